"""The table of the transformers, which are stages of a spec: see recipes.py."""

from __future__ import annotations

from margin.estimators import conversions as c
from margin.estimators.parameters import Parameter, Recipe, elsewhere, gamma, kernel, no_effect, number, only, switch, words

P = Parameter
_COPY = P("copy", True, "bool", "no effect: X is never written to", no_effect, "bool")
_SEED = P("random_state", None, "int, RandomState or None", "of the draw; None: 0", elsewhere)
_KERNELS = {"linear": "linear", "poly": "poly", "polynomial": "poly", "rbf": "rbf", "laplacian": "laplacian"}

STAGES = (
    Recipe("MinMaxScaler", "stages", "MinMax", "minmax", "Columns to a range, [0, 1] by default.", (
        P("feature_range", (0, 1), "tuple (low, high)", "the range", c.feature_range, "tuple[float, float]"), _COPY,
        P("clip", False, "bool", "cut what `transform` makes off at the range", elsewhere, "bool"))),
    Recipe("StandardScaler", "stages", "ColumnScaler", "standardize", "Columns to mean 0 and standard deviation 1.", (
        _COPY, P("with_mean", True, "bool", "subtract the mean; False keeps sparse data sparse", switch("center"), "bool"),
        P("with_std", True, "bool", "divide by the standard deviation", switch("scale"), "bool"))),
    Recipe("Normalizer", "stages", "RowScaler", "normalize", "Rows to norm 1.", (
        P("norm", "l2", "{'l1', 'l2', 'max'}", "which norm", words("norm", {"l2": None, "l1": "l1", "max": "max"}, "there is no such norm"), "str"), _COPY)),
    Recipe("OneHotEncoder", "stages", "Encoder", "onehot", "A column of 0 and 1 for each category.", (
        P("categories", "auto", "'auto' or a list of array-likes", "those of each column in ascending order; 'auto': all that the data have", elsewhere),
        P("drop", None, "{'first', 'if_binary'}, array-like or None", "which category of each column gets no column", elsewhere),
        P("sparse_output", True, "bool", "a CSR matrix; False: an array", elsewhere, "bool"),
        P("dtype", float, "number type", "type of the output", elsewhere),
        P("handle_unknown", "error", "{'error', 'ignore'}", "what a category that training did not have is: an error, or 0 in all columns", only("error", "ignore", why="rare categories are not gathered"), "str"),
        P("min_frequency", None, "None", "only None", only(None, why="rare categories are not gathered")),
        P("max_categories", None, "None", "only None", only(None, why="rare categories are not gathered")),
        P("feature_name_combiner", "concat", "'concat' or callable", "makes the name of a column from that of X and the category", elsewhere)),
        fixed=(("unknown", "ignore"),)),
    Recipe("SimpleImputer", "stages", "Imputer", "impute", "Missing values become a number of their column.", (
        P("missing_values", float("nan"), "float or int", "what counts as missing", elsewhere),
        P("strategy", "mean", "{'mean', 'median', 'most_frequent', 'constant'}", "what they become", words("with", {"mean": None, "median": "median", "most_frequent": "most-frequent", "constant": None}, "there is no such strategy"), "str"),
        P("fill_value", None, "float or None", "of 'constant'; None: 0", elsewhere), _COPY,
        P("add_indicator", False, "False", "only False", only(False, why="sklearn.impute.MissingIndicator makes such columns"), "bool"),
        P("keep_empty_features", False, "False", "only False", only(False, why="a column without a value is an error but for 'constant'"), "bool")),
        finish=c.imputer),
    Recipe("PolynomialFeatures", "stages", "Products", "poly", "All products of columns up to a degree.", (
        P("degree", 2, "int or tuple (low, high)", "how many factors a product has at most, or at least and at most", c.degrees, "int | tuple[int, int]"),
        P("interaction_only", False, "bool", "only products of different columns", switch("interactions"), "bool"),
        P("include_bias", True, "bool", "start with a column of ones", switch("bias"), "bool"),
        P("order", "C", "{'C', 'F'}", "order of the output's memory", only("C", "F", why="there is no such order"), "str"))),
    Recipe("RBFFeatures", "stages", "Named", "rbf", "How near rows are to centres.", (
        P("centres", 100, "int", "how many; with pick='even' for each column", number("centres", low=1, whole=True), "int"),
        P("pick", "sample", "{'sample', 'kmeans', 'even'}", "where they lie: on rows drawn at random, on the means of clusters, or evenly spaced", words("pick", {"sample": None, "kmeans": "kmeans", "even": "even"}, "there is no such choice"), "str"),
        P("sigma", None, "float, 'median', 'spacing' or None", "width; None: 'spacing' for even centres of one column, else 'median'", c.width),
        P("gamma", None, "float or None", "the width as 1 / (2 sigma^2)", number("gamma", low=0, open_low=True), "float | None"),
        P("bias", True, "bool", "end with a column of ones", switch("bias"), "bool"), _SEED)),
    Recipe("Nystroem", "stages", "Named", "nystroem", "A kernel seen from some rows: features whose dot products are nearly it.", (
        P("kernel", "rbf", "{'rbf', 'poly', 'laplacian', 'linear'}", "k(x, z)", kernel(_KERNELS), "str"),
        P("gamma", None, "float or None", "factor in all kernels but 'linear'; None: 1 / columns", gamma, "float | None"),
        P("coef0", None, "float or None", "constant in 'poly'; None: 1", number("coef0"), "float | None"),
        P("degree", None, "int or None", "degree of 'poly'; None: 3", c.degree_three, "int | None"),
        P("kernel_params", None, "None", "only None", only(None, why="the kernels have no other parameters")),
        P("n_components", 100, "int", "how many rows", number("centres", low=1, whole=True), "int"), _SEED,
        P("n_jobs", None, "int or None", "threads; None: OMP_NUM_THREADS, else all cores; below 1: all cores", elsewhere, "int | None"),
        P("pick", "uniform", "{'uniform', 'rpcholesky', 'kmeans'}", "rows drawn at random; where those before leave most of the kernel, which takes longer and needs fewer; or the means of clusters", words("pick", {"uniform": "uniform", "rpcholesky": None, "kmeans": "kmeans"}, "there is no such choice"), "str")),
        finish=c.kernel_options),
    Recipe("RBFSampler", "stages", "Sampler", "fourier", "Random features whose dot products are on average the RBF kernel.", (
        P("gamma", 1.0, "float or 'scale'", "exp(-gamma |x - z|^2)", gamma, "float | str"),
        P("n_components", 100, "int", "how many; an even number is best: pairs of a cosine and a sine", c.pairs, "int"), _SEED)),
)
