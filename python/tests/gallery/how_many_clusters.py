"""Made clouds: silhouettes tell how many there are."""

from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, silhouette_score

X, truth = make_blobs(600, centers=[[-6, 0], [0, 5], [6, 0], [0, -5]], cluster_std=1.0, random_state=3)
scores = {}
for k in range(2, 7):
    groups = KMeans(k, n_init=5, random_state=10, tol=0).fit_predict(X)
    scores[k] = silhouette_score(X, groups)
    print(k, f"{scores[k]:.3f} {adjusted_rand_score(truth, groups):.3f}")
print("best", max(scores, key=scores.get))
