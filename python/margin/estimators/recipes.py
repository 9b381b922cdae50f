"""The table: each scikit-learn class, its parameters, and what they are in a spec.

`tools/make_estimators.py` writes the classes of `made_*.py` from it; what a class does is in the base
that its recipe names.
"""

from __future__ import annotations

from margin.estimators import conversions as c
from margin.estimators.parameters import (
    Parameter,
    Recipe,
    elsewhere,
    gamma,
    kernel,
    no_effect,
    number,
    only,
    switch,
    words,
)
from margin.estimators.recipes_stages import STAGES

P = Parameter
_TOL = "relative duality gap to reach; it is proven, and what scikit-learn's tol means differs by solver"
_DEEP = "the answer does not depend on it"


def _tol(default: float) -> Parameter:
    return P("tol", default, "float", _TOL, number("tol", low=0, open_low=True), "float")


_MAX_ITER = P("max_iter", None, "int or None", "limit on steps; None: none", c.max_iter, "int | None")
_INTERCEPT = P("fit_intercept", True, "bool", "fit an intercept, which is never penalised", switch("intercept"), "bool")
_COPY = P("copy_X", True, "bool", "no effect: X is never written to", no_effect, "bool")
_POSITIVE = P("positive", False, "False", "only False", only(False, why="weights cannot be held to one sign"), "bool")
_VERBOSE = P("verbose", 0, "int", "no effect", no_effect, "int")
_WARM = P("warm_start", False, "bool", "begin where the last fit ended; the answer is the same to tol", elsewhere, "bool")
_SEED = P("random_state", None, "int, RandomState or None", "no effect: the solver makes no random choices", elsewhere)
_JOBS = P("n_jobs", None, "int or None", "threads; None: OMP_NUM_THREADS, else all cores; below 1: all cores. The model does not depend on it", elsewhere, "int | None")
_CLASS_WEIGHT = P("class_weight", None, "dict, 'balanced' or None", "weights of the classes; 'balanced' counts rows by their sample_weight", elsewhere)
_SELECTION = P("selection", "cyclic", "{'cyclic', 'random'}", f"no effect: {_DEEP}", only("cyclic", "random", why="there is no such order"), "str")
_PRECOMPUTE = P("precompute", False, "bool or array", f"no effect: {_DEEP}", no_effect)
_DUAL = P("dual", "auto", "bool or 'auto'", f"no effect: {_DEEP}", no_effect)
_SOLVER = f"no effect: {_DEEP}; the library chooses. scikit-learn's 'liblinear' penalises the intercept, margin never does"
_CV = P("cv", None, "int, splitter or None", "folds; each row has to be tested once", elsewhere)
_SCALING = P("intercept_scaling", 1, "float", "no effect: the intercept is not penalised", no_effect, "float")
_ALPHA = P("alpha", 1.0, "float", "penalty", number("alpha", low=0), "float")
_L1_RATIO = P("l1_ratio", 0.5, "float", "share of the absolute values in the penalty", number("l1_ratio", low=0), "float")
_C = P("C", 1.0, "float", "weight of the summed loss against the penalty; inf: no penalty", number("C", low=0, open_low=True), "float")
_C_FINITE = P("C", 1.0, "float", "weight of the summed loss against the penalty; finite", number("C", low=0, open_low=True), "float")

_KERNELS = {"linear": "linear", "poly": "poly", "rbf": "rbf", "sigmoid": "sigmoid"}
_PAIRWISE = {**_KERNELS, "polynomial": "poly", "laplacian": "laplacian"}
_KERNEL = P("kernel", "rbf", "{'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'} or callable", "k(x, z); 'precomputed': X is the Gram matrix; a function of two sets of rows makes it", c.any_kernel(_KERNELS))
_DEGREE = P("degree", 3, "int", "degree of 'poly'", number("degree", low=1, whole=True), "int")
_GAMMA = P("gamma", "scale", "{'scale', 'auto'} or float", "factor in 'rbf', 'poly' and 'sigmoid'", gamma, "float | str")
_COEF0 = P("coef0", 0.0, "float", "constant in 'poly' and 'sigmoid'", number("coef0"), "float")
_MACHINE = (
    P("shrinking", True, "bool", f"no effect: {_DEEP}", no_effect, "bool"),
    P("cache_size", 200, "float", "no effect: the library sizes its cache itself", no_effect, "float"),
)
_MACHINE_ITER = P("max_iter", -1, "int", "limit on steps; -1: none", c.max_iter, "int")

_WEIGHING = (
    P("weights", "uniform", "{'uniform', 'distance'} or None", "what a neighbour's vote counts: 1 (None, too), or 1 / distance", words("weights", {"uniform": None, "distance": "distance", None: None}, "a function of distances cannot be handed to the library"), "str | None"),
    P("algorithm", "auto", "{'auto', 'kd_tree', 'ball_tree', 'brute'}", "how neighbours are searched; the answers are identical", c.search_method, "str"),
    P("leaf_size", 30, "int", f"no effect: {_DEEP}", no_effect, "int"),
)
_P = P("p", 2, "float", "power of the Minkowski distance, from 1 to inf", number("p", low=1), "float")
_METRIC = P("metric", "minkowski", "{'minkowski', 'euclidean', 'manhattan', 'chebyshev', ...}", "distance", c.metric, "str")
_METRIC_PARAMS = P("metric_params", None, "None", "only None", only(None, why="the distances have no other parameters"))
_RADIUS = P("radius", 1.0, "float", "all rows at this distance or less take part", number("radius", low=0), "float")
_NEIGHBORS = (
    P("n_neighbors", 5, "int", "how many neighbours take part", number("k", low=1, whole=True), "int"),
    *_WEIGHING, _P, _METRIC, _METRIC_PARAMS, _JOBS,
)
_COUNTS = (
    P("alpha", 1.0, "float", "added to every count", number("smoothing", low=0), "float"),
    P("force_alpha", True, "bool", "no effect: alpha is taken as it is, below 1e-10, too", no_effect, "bool"),
)
_PRIORS = (
    P("fit_prior", True, "bool", "learn the shares of the classes; False: equal ones", elsewhere, "bool"),
    P("class_prior", None, "array-like of shape (n_classes,) or None", "shares of the classes", elsewhere),
)

_LEARNERS = (
    Recipe("LinearRegression", "linear", "LinearTargets", "least-squares", "Least squares.", (
        _INTERCEPT, _COPY, _tol(1e-6), _JOBS, _POSITIVE)),
    Recipe("Ridge", "linear", "LinearTargets", "ridge", "Least squares with a penalty on the square of the weights.", (
        _ALPHA, _INTERCEPT, _COPY, _MAX_ITER, _tol(1e-6),
        P("solver", "auto", "{'auto', 'cholesky', 'svd', ...}", "'svd' takes a QR factorisation, 'cholesky' the normal equations, the others the library's choice", words("solver", {"auto": None, "svd": "qr", "cholesky": "normal", "lsqr": None, "sparse_cg": None, "sag": None, "saga": None}, "there is no such solver"), "str"),
        _POSITIVE, _SEED)),
    Recipe("Lasso", "linear", "LinearRegressor", "lasso", "Least squares with a penalty on the absolute weights.", (
        P("alpha", 1.0, "float", "penalty", number("lambda", low=0), "float"),
        _INTERCEPT, _PRECOMPUTE, _COPY, _MAX_ITER, _tol(1e-9), _WARM, _POSITIVE, _SEED, _SELECTION),
        finish=c.lasso),
    Recipe("ElasticNet", "linear", "LinearRegressor", "elastic-net", "Least squares with the penalties of ridge and lasso in one.", (
        P("alpha", 1.0, "float", "penalty", number("lambda", low=0), "float"),
        _L1_RATIO, _INTERCEPT, _PRECOMPUTE, _MAX_ITER, _COPY, _tol(1e-9), _WARM, _POSITIVE, _SEED, _SELECTION),
        finish=c.elastic_net),
    Recipe("LogisticRegression", "linear", "LinearClassifier", "logistic", "Logistic regression; with more than two classes softmax regression.", (
        P("penalty", "deprecated", "{'l2', 'l1', 'elasticnet', None}", "as l1_ratio and C say it", words("penalty", {"deprecated": "", "l2": "l2", "l1": "l1", "elasticnet": "elasticnet", None: "none"}, "there is no such penalty")),
        _C, P("l1_ratio", 0.0, "float or None", "share of the absolute values in the penalty; two classes only", number("l1_ratio", low=0), "float | None"),
        P("dual", False, "bool", f"no effect: {_DEEP}", no_effect, "bool"),
        _tol(1e-9), _INTERCEPT, _SCALING, _CLASS_WEIGHT, _SEED,
        P("solver", "lbfgs", "{'lbfgs', 'newton-cg', 'liblinear', ...}", _SOLVER, only("lbfgs", "newton-cg", "newton-cholesky", "liblinear", "sag", "saga", why="there is no such solver"), "str"),
        _MAX_ITER, _VERBOSE, _WARM, _JOBS), finish=c.logistic),
    Recipe("LinearSVC", "linear", "LinearClassifier", "svm", "Linear support vector machine.", (
        P("penalty", "l2", "{'l2'}", "only 'l2'", only("l2", why="the penalty is on the squared weights"), "str"),
        P("loss", "squared_hinge", "{'hinge', 'squared_hinge'}", "what a row costs", words("loss", {"hinge": "hinge", "squared_hinge": "squared-hinge"}, "there is no such loss"), "str"),
        _DUAL, _tol(1e-9), _C,
        P("multi_class", "ovr", "{'ovr', 'crammer_singer'}", "more than two classes: one against the rest, or all at once", words("multiclass", {"ovr": None, "crammer_singer": "argmax"}, "there is no such scheme"), "str"),
        _INTERCEPT, _SCALING, _CLASS_WEIGHT, _VERBOSE, _SEED, _MAX_ITER), finish=c.linear_svc),
    Recipe("Perceptron", "linear", "PerceptronClassifier", "perceptron", "Rosenblatt's perceptron.", (
        P("penalty", None, "None", "only None", only(None, why="a perceptron has no penalty; LogisticRegression and LinearSVC have")),
        P("alpha", 0.0001, "float", "no effect without a penalty", no_effect, "float"),
        P("l1_ratio", 0.15, "float", "no effect without a penalty", no_effect, "float"),
        P("fit_intercept", True, "bool", "move an intercept, too", switch("intercept"), "bool"),
        P("max_iter", None, "int or None", "limit on passes over the rows; None: as many as make progress, at most 1000, more where the data is proven to be separable", number("passes", low=1, whole=True), "int | None"),
        P("tol", None, "float or None", "no effect: it ends when no row is misclassified", no_effect, "float | None"),
        P("shuffle", True, "bool", "visit the rows in a new random order each pass", words("order", {True: "shuffled", False: None}, "it is a bool"), "bool"),
        _VERBOSE, P("eta0", 1.0, "float", "step of an update, up to 1; it only scales the weights", number("rate", low=0, open_low=True, high=1), "float"),
        _JOBS, P("random_state", 0, "int, RandomState or None", "of the order", elsewhere),
        P("early_stopping", False, "False", "only False", only(False, why="it ends when no row is misclassified"), "bool"),
        P("validation_fraction", 0.1, "float", "no effect without early_stopping", no_effect, "float"),
        P("n_iter_no_change", 5, "int", "no effect without early_stopping", no_effect, "int"),
        _CLASS_WEIGHT,
        P("warm_start", False, "bool", "begin with the weights of the last fit", elsewhere, "bool"))),
    Recipe("RidgeCV", "crossed", "RidgeCrossed", "ridge", "Ridge that chooses its penalty, by leaving out each row in closed form or by folds.", (
        P("alphas", (0.1, 1.0, 10.0), "array-like", "penalties to choose from", elsewhere), _INTERCEPT,
        P("scoring", None, "str or None", "None: mean square, with cv R2; without cv only that", elsewhere, "str | None"), _CV,
        P("gcv_mode", None, "{'auto', 'svd', 'eigen'} or None", f"no effect: {_DEEP}", only(None, "auto", "svd", "eigen", why="there is no such mode"), "str | None"),
        P("store_cv_results", False, "False", "only False", only(False, why="errors of single rows are not kept"), "bool"),
        P("alpha_per_target", False, "False", "only False", only(False, why="there is one target"), "bool"))),
    Recipe("LassoCV", "crossed", "LassoCrossed", "lasso", "Lasso that chooses its penalty by folds.", (
        P("eps", 1e-3, "float", "least penalty, as a share of the greatest", elsewhere, "float"),
        P("alphas", 100, "int or array-like", "how many penalties, or which", elsewhere), _INTERCEPT, P("precompute", "auto", "any", f"no effect: {_DEEP}", no_effect),
        _MAX_ITER, _tol(1e-9), _COPY, _CV, P("verbose", False, "bool", "no effect", no_effect, "bool"), _JOBS, _POSITIVE, _SEED, _SELECTION)),
    Recipe("LogisticRegressionCV", "crossed", "LogisticCrossed", "logistic", "Logistic regression that chooses its penalty by folds.", (
        P("Cs", 10, "int or array-like", "how many weights of the loss from 1e-4 to 1e4, or which", elsewhere),
        P("l1_ratios", "warn", "array-like or None", "shares of the absolute values in the penalty, for two classes; None: 0", elsewhere), _INTERCEPT, _CV,
        P("dual", False, "bool", f"no effect: {_DEEP}", no_effect, "bool"),
        P("penalty", "deprecated", "{'l2'}", "as l1_ratios says it", only("deprecated", "l2", why="l1_ratios says it")),
        P("scoring", "warn", "str or None", "None: accuracy", elsewhere, "str | None"),
        P("solver", "lbfgs", "{'lbfgs', 'newton-cg', 'liblinear', ...}", _SOLVER, only("lbfgs", "newton-cg", "newton-cholesky", "liblinear", "sag", "saga", why="there is no such solver"), "str"),
        _tol(1e-9), _MAX_ITER, _CLASS_WEIGHT, _JOBS, _VERBOSE, P("refit", True, "True", "only True", only(True, why="the chosen setting is fitted to all rows"), "bool"),
        _SCALING, _SEED, P("use_legacy_attributes", "warn", "any", "no effect: C_ is a number, scores_ folds x shares x Cs", no_effect))),
    Recipe("Pocket", "linear", "LinearClassifier", "perceptron", "The perceptron that keeps the best weights it has seen.", (
        P("max_iter", None, "int or None", "passes over the rows; None: 100", number("passes", low=1, whole=True), "int | None"),
        P("shuffle", True, "bool", "visit the rows in a new random order each pass", words("order", {True: "shuffled", False: None}, "it is a bool"), "bool"),
        P("eta0", 1.0, "float", "step of an update, up to 1; it only scales the weights", number("rate", low=0, open_low=True, high=1), "float"),
        P("random_state", 0, "int, RandomState or None", "of the order", elsewhere), _JOBS, _CLASS_WEIGHT), fixed=(("variant", "pocket"),)),
    Recipe("KernelPerceptron", "kernel", "KernelPerceptronClassifier", "perceptron", "Rosenblatt's perceptron with a kernel: a coefficient for every row.", (
        P("kernel", "rbf", "{'linear', 'poly', 'rbf', 'sigmoid', 'laplacian', 'precomputed'} or callable", "k(x, z); 'precomputed': X is the Gram matrix; a function of two rows", c.any_kernel(_PAIRWISE)), _DEGREE, _GAMMA, _COEF0,
        P("max_iter", None, "int or None", "limit on passes over the rows; None: 1000", number("passes", low=1, whole=True), "int | None"),
        P("shuffle", True, "bool", "visit the rows in a new random order each pass", words("order", {True: "shuffled", False: None}, "it is a bool"), "bool"),
        P("eta0", 1.0, "float", "step of an update, up to 1; it only scales the scores", number("rate", low=0, open_low=True, high=1), "float"),
        P("random_state", 0, "int, RandomState or None", "of the order", elsewhere), _JOBS, _CLASS_WEIGHT), finish=c.kernel_options),
    Recipe("LinearSVR", "kernel", "LinearExpansion", "svm", "Linear support vector regression.", (
        P("epsilon", 0.0, "float", "errors up to this cost nothing", number("epsilon", low=0), "float"),
        _tol(1e-3), _C_FINITE,
        P("loss", "epsilon_insensitive", "{'epsilon_insensitive'}", "only 'epsilon_insensitive'", only("epsilon_insensitive", why="errors cost what they exceed epsilon by, not its square"), "str"),
        P("fit_intercept", True, "True", "only True", only(True, why="the regression has an intercept"), "bool"),
        _SCALING, _DUAL, _VERBOSE, _SEED, _MAX_ITER), fixed=(("task", "regress"), ("kernel", "linear"))),
    Recipe("SVC", "kernel", "KernelClassifier", "svm", "Support vector machine with a kernel; more than two classes one against one.", (
        _C_FINITE, _KERNEL, _DEGREE, _GAMMA, _COEF0, _MACHINE[0],
        P("probability", False, "False", "only False", only(False, "deprecated", why="wrap it in CalibratedClassifierCV"), "bool"),
        _tol(1e-3), _MACHINE[1], _CLASS_WEIGHT, P("verbose", False, "bool", "no effect", no_effect, "bool"), _MACHINE_ITER,
        P("decision_function_shape", "ovr", "{'ovr', 'ovo'}", "a score for each class, or for each pair", only("ovr", "ovo", why="there is no such shape"), "str"),
        P("break_ties", False, "bool", "no effect: ties of votes are settled by the scores", no_effect, "bool"),
        _SEED), fixed=(("task", "classify"),), finish=c.svc),
    Recipe("SVR", "kernel", "ExpansionRegressor", "svm", "Support vector regression with a kernel.", (
        _KERNEL, _DEGREE, _GAMMA, _COEF0, _tol(1e-3), _C_FINITE,
        P("epsilon", 0.1, "float", "errors up to this cost nothing", number("epsilon", low=0), "float"),
        *_MACHINE, P("verbose", False, "bool", "no effect", no_effect, "bool"), _MACHINE_ITER),
        fixed=(("task", "regress"),), finish=c.kernel_options),
    Recipe("OneClassSVM", "kernel", "OneClass", "svm", "One class and its outliers.", (
        _KERNEL, _DEGREE, _GAMMA, _COEF0, _tol(1e-6),
        P("nu", 0.5, "float", "at most this share of the rows are outliers, at least this share support vectors", number("nu", low=0, open_low=True, high=1), "float"),
        *_MACHINE, P("verbose", False, "bool", "no effect", no_effect, "bool"), _MACHINE_ITER),
        fixed=(("task", "one-class"),), finish=c.kernel_options),
    Recipe("KernelRidge", "kernel", "KernelRidgeRegressor", "kernel-ridge", "Ridge over a kernel: a coefficient for every row.", (
        P("alpha", 1.0, "float", "penalty", number("alpha", low=0, open_low=True), "float"),
        P("kernel", "linear", "{'linear', 'poly', 'rbf', 'sigmoid', 'laplacian', 'precomputed'} or callable", "k(x, z); 'precomputed': X is the Gram matrix; a function of two rows", c.any_kernel(_PAIRWISE)),
        P("gamma", None, "float or None", "factor in all kernels but 'linear'; None: 1 / columns", gamma, "float | None"), _DEGREE,
        P("coef0", 1.0, "float", "constant in 'poly' and 'sigmoid'", number("coef0"), "float"),
        P("kernel_params", None, "dict or None", "words of a function as kernel", no_effect, "dict[str, Any] | None")),
        fixed=(("task", "regress"),), finish=c.kernel_options),
    Recipe("KNeighborsClassifier", "neighbors", "NearestClassifier", "knn", "The vote of the nearest rows, exact.", _NEIGHBORS, fixed=(("task", "classify"),)),
    Recipe("KNeighborsRegressor", "neighbors", "NearestRegressor", "knn", "The mean of the nearest rows, exact.", _NEIGHBORS, fixed=(("task", "regress"),)),
    Recipe("RadiusNeighborsClassifier", "neighbors", "RadiusClassifier", "knn", "The vote of all rows within a radius, exact.", (
        _RADIUS, *_WEIGHING, _P, _METRIC,
        P("outlier_label", None, "label, 'most_frequent' or None", "the answer where there is no row; None: an error", elsewhere),
        _METRIC_PARAMS, _JOBS), fixed=(("task", "classify"), ("empty", "none"))),
    Recipe("RadiusNeighborsRegressor", "neighbors", "NearestRegressor", "knn", "The mean of all rows within a radius, exact; NaN where there is none.", (
        _RADIUS, *_WEIGHING, _P, _METRIC, _METRIC_PARAMS, _JOBS), fixed=(("task", "regress"), ("empty", "none"))),
    Recipe("NearestNeighbors", "neighbors", "Nearest", "knn", "The search for the nearest rows, exact.", (
        _NEIGHBORS[0], P("radius", 1.0, "float", "of `radius_neighbors`", elsewhere, "float"), *_WEIGHING[1:], _P, _METRIC, _METRIC_PARAMS, _JOBS),
        fixed=(("task", "regress"),), finish=c.fewer_than_rows),
    Recipe("GaussianNB", "bayes", "GaussianClassifier", "naive-bayes", "Naive Bayes of normal columns.", (
        P("priors", None, "array-like of shape (n_classes,) or None", "shares of the classes", elsewhere),
        P("var_smoothing", 1e-9, "float", "share of the greatest variance that is added to every variance", number("var_smoothing", low=0), "float")),
        fixed=(("smoothing", "0"), ("distribution", "gaussian"))),
    Recipe("MultinomialNB", "bayes", "CountClassifier", "naive-bayes", "Naive Bayes of counts, such as those of words.", (*_COUNTS, *_PRIORS), fixed=(("distribution", "multinomial"),)),
    Recipe("BernoulliNB", "bayes", "DiscreteClassifier", "naive-bayes", "Naive Bayes of columns that are above 0 or not.", (*_COUNTS,
        P("binarize", 0.0, "0.0 or None", "columns are true above it", only(0.0, None, why="columns are true above 0; compare X with the threshold yourself"), "float | None"), *_PRIORS),
        fixed=(("distribution", "bernoulli"),)),
    Recipe("CategoricalNB", "bayes", "CategoryClassifier", "naive-bayes", "Naive Bayes of columns whose numbers are categories.", (*_COUNTS, *_PRIORS,
        P("min_categories", None, "None", "only None", only(None, why="categories are those that training saw"))), fixed=(("distribution", "categorical"),)),
    Recipe("MixedNB", "bayes", "MixedClassifier", "naive-bayes", "Naive Bayes of columns of several kinds.", (
        *[P(kind, None, "list of column names or numbers, or None", f"columns that are {kind}", elsewhere) for kind in ("categorical", "gaussian", "multinomial", "bernoulli")],
        P("distribution", "auto", "{'auto', 'gaussian', 'categorical', 'multinomial', 'bernoulli'}", "of the columns that no list names; 'auto': words categorical, numbers gaussian", words("distribution", {k: k for k in ("auto", "gaussian", "categorical", "multinomial", "bernoulli")}, "there is no such distribution"), "str"),
        _COUNTS[0], P("var_smoothing", 1e-9, "float", "share of the greatest variance that is added to every variance", number("var_smoothing", low=0), "float"),
        P("unseen", "smooth", "{'smooth', 'ignore', 'error'}", "a category that training never saw: a count of 0, left out, or no prediction", words("unseen", {k: k for k in ("smooth", "ignore", "error")}, "there is no such way"), "str"),
        *_PRIORS)),
    Recipe("KMeans", "cluster", "Clusters", "kmeans", "Clusters around centres.", (
        P("n_clusters", 8, "int", "how many clusters", number("k", low=1, whole=True), "int"),
        P("init", "k-means++", "{'k-means++', 'random'} or array-like of shape (n_clusters, n_features)", "first centres", c.first_centres),
        P("n_init", "auto", "int or 'auto'", "runs from different starts; 'auto': 10 for small data, else 1; 1 where centres are given", c.restarts, "int | str"),
        P("max_iter", 300, "int", "limit on the iterations of a run", number("max_iter", low=1, whole=True), "int"),
        P("tol", 0.0, "float", "stop when an iteration lowers the inertia by less than this share; 0: when no row changes its cluster", number("tol", low=0), "float"),
        _VERBOSE, P("random_state", None, "int, RandomState or None", "of the first centres; None: 0", elsewhere),
        P("copy_x", True, "bool", "no effect: X is never written to", no_effect, "bool"),
        P("algorithm", "lloyd", "{'lloyd', 'elkan'}", f"no effect: {_DEEP}", only("lloyd", "elkan", why="there is no such algorithm"), "str"))),
)

RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in (*_LEARNERS, *STAGES)}
