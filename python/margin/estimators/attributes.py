"""What fitted estimators have, by the base that a recipe names, for their documentation; tests compare it with what there is."""

from __future__ import annotations

Attribute = tuple[str, str, str]  # name, type with shape, meaning

ALWAYS: tuple[Attribute, ...] = (
    ("model_", "margin.Model", "What was trained: `model_.save` writes the file that C and the shell read"),
    ("report_", "margin.Report", "What was minimised, how it ended, and the proven gap"),
    ("n_features_in_", "int", "Columns of X"),
    ("feature_names_in_", "ndarray of shape (n_features_in_,)", "Their names, if X is a table with texts as names"),
)
_STEPS = ("n_iter_", "int", "Steps that the fit took; of several classes, pairs of them or targets the most that one took")
_TRACE = ("trace_", "list of margin.TraceStep", "What the fit did, of one within margin.config_context(trace=True)")
_CLASSES = ("classes_", "ndarray of shape (n_classes,)", "The labels in ascending order")
_INTERCEPT = ("intercept_", "float or ndarray of shape (n_targets,)", "What is added")
_VALUES = (("coef_", "ndarray of shape (n_features,) or (n_targets, n_features)", "Weights of the columns, read-only"), _INTERCEPT, _STEPS, _TRACE)
_SCORES = (
    ("coef_", "ndarray of shape (1 or n_classes, n_features)", "Weights of the columns, read-only; one row for two classes"),
    ("intercept_", "ndarray of shape (1 or n_classes,)", "What is added"), _STEPS, _TRACE,
)
_VECTORS = (
    ("support_", "ndarray of shape (n_support,)", "Row numbers of the support vectors"),
    ("support_vectors_", "ndarray or CSR matrix of shape (n_support, n_features)", "Those rows; empty where the kernel is given"),
    ("n_support_", "ndarray of shape (1 or n_classes,)", "How many there are, of classifiers in each class"),
)
_EXPANSION = (*_VECTORS, ("dual_coef_", "ndarray of shape (1, n_support)", "Their coefficients, signs included"),
              ("intercept_", "ndarray of shape (1,)", "What is added"), _STEPS)
_LINEAR_KERNEL = ("coef_", "ndarray of shape (1 or n_pairs, n_features)", "Weights of the columns, of kernel='linear' alone")
_CHOSEN = ("alpha_", "float", "The penalty that was chosen")
_SEARCHED = (
    ("n_samples_fit_", "int", "Rows of the training data"),
    ("effective_metric_", "str", "The distance by name"),
)
_PRIOR = ("class_count_", "ndarray of shape (n_classes,)", "Rows of each class, by their weights")
_DISCRETE = (
    _CLASSES, _PRIOR, ("class_log_prior_", "ndarray of shape (n_classes,)", "Logarithms of the classes' shares"),
    ("feature_count_", "ndarray of shape (n_classes, n_features)", "Sums of the columns in each class; of BernoulliNB rows above 0"),
    ("feature_log_prob_", "ndarray of shape (n_classes, n_features)", "Logarithms of the columns' shares in each class"),
)
_SEEN = ("n_samples_seen_", "int or float", "Rows, by their weights")
_SCALE = ("scale_", "ndarray of shape (n_features,)", "What columns are divided by; of MinMaxScaler multiplied by")
_COLUMNS = (("components_", "ndarray of shape (n_centres, n_features)", "The rows, means or frequencies that the features are made from"),)

OF_BASE: dict[str, tuple[Attribute, ...]] = {
    "LinearTargets": _VALUES, "LinearRegressor": _VALUES,
    "LinearClassifier": (_CLASSES, *_SCORES), "PerceptronClassifier": (_CLASSES, *_SCORES),
    "RidgeCrossed": (_CHOSEN, ("best_score_", "float", "The score that it has"), *_VALUES),
    "LassoCrossed": (_CHOSEN, ("alphas_", "ndarray of shape (n_alphas,)", "Those that were tried, descending"),
                     ("mse_path_", "ndarray of shape (n_alphas, n_folds)", "Mean squares on the folds"), *_VALUES),
    "LogisticCrossed": (
        _CLASSES, ("C_", "float", "The C that was chosen"), ("l1_ratio_", "float", "The share that was chosen"),
        ("Cs_", "ndarray of shape (n_Cs,)", "Those that were tried"), ("l1_ratios_", "ndarray of shape (n_l1_ratios,)", "Those that were tried"),
        ("scores_", "ndarray of shape (n_folds, n_l1_ratios, n_Cs)", "Scores on the folds"), *_SCORES),
    "KernelPerceptronClassifier": (_CLASSES, ("support_", "ndarray of shape (n_support,)", "Row numbers of what was corrected"), _STEPS, _TRACE),
    "KernelClassifier": (
        _CLASSES, *_VECTORS, ("dual_coef_", "ndarray of shape (n_classes - 1, n_support)", "Coefficients against each other class, signs included"),
        ("intercept_", "ndarray of shape (n_pairs,)", "What is added, of each pair of classes"), _LINEAR_KERNEL, _STEPS),
    "ExpansionRegressor": (*_EXPANSION, _LINEAR_KERNEL),
    "LinearExpansion": (*_EXPANSION, ("coef_", "ndarray of shape (n_features,)", "Weights of the columns")),
    "OneClass": (*_EXPANSION, _LINEAR_KERNEL, ("offset_", "float", "`decision_function` is `score_samples` minus this")),
    "KernelRidgeRegressor": (("dual_coef_", "ndarray of shape (n_samples,) or (n_samples, n_targets)", "Coefficients of the training rows"), _STEPS),
    "Nearest": _SEARCHED,
    "NearestClassifier": (_CLASSES, *_SEARCHED),
    "RadiusClassifier": (_CLASSES, ("outlier_label_", "list of one label, or None", "The answer where there is no neighbour"), *_SEARCHED),
    "NearestRegressor": _SEARCHED,
    "GaussianClassifier": (
        _CLASSES, _PRIOR, ("class_prior_", "ndarray of shape (n_classes,)", "Shares of the classes"),
        ("theta_", "ndarray of shape (n_classes, n_features)", "Means of the columns in each class"),
        ("var_", "ndarray of shape (n_classes, n_features)", "Their variances, with `epsilon_`"),
        ("epsilon_", "float", "What is added to every variance")),
    "DiscreteClassifier": _DISCRETE, "CountClassifier": _DISCRETE,
    "CategoryClassifier": (
        *_DISCRETE[:3], ("n_categories_", "ndarray of shape (n_features,)", "How many categories each column may have"),
        ("category_count_", "list of ndarray of shape (n_classes, n_categories)", "Of each column the rows of each class and category"),
        ("feature_log_prob_", "list of ndarray of shape (n_classes, n_categories)", "Of each column what the model adds")),
    "MixedClassifier": (_CLASSES, _PRIOR),
    "Clusters": (
        ("cluster_centers_", "ndarray of shape (n_clusters, n_features)", "The centres, read-only"),
        ("labels_", "ndarray of shape (n_samples,)", "The cluster of each training row"),
        ("inertia_", "float", "Sum of the squared distances from the nearest centres"), _STEPS),
    "MinMax": (
        ("data_min_", "ndarray of shape (n_features,)", "Least values"), ("data_max_", "ndarray of shape (n_features,)", "Greatest values"),
        ("data_range_", "ndarray of shape (n_features,)", "Their differences"), _SCALE,
        ("min_", "ndarray of shape (n_features,)", "What is added to the multiple"), _SEEN),
    "ColumnScaler": (
        ("mean_", "ndarray of shape (n_features,) or None", "Means of the columns"),
        ("var_", "ndarray of shape (n_features,) or None", "Their variances"), _SCALE, _SEEN),
    "RowScaler": (),
    "Encoder": (
        ("categories_", "list of ndarray", "Of each column its categories, in the order of the output's columns"),
        ("drop_idx_", "ndarray of shape (n_features,) or None", "Of each column the place of the category without a column")),
    "Imputer": (("statistics_", "ndarray of shape (n_features,)", "What missing values of each column become"),),
    "Products": (
        ("powers_", "ndarray of shape (n_output_features_, n_features)", "Powers of the columns in each product"),
        ("n_output_features_", "int", "How many products there are")),
    "Named": _COLUMNS, "Sampler": _COLUMNS,
}
