"""Classifiers with a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from margin.estimators.classifiers import Classifier, ScoringClassifier
from margin.estimators.expansions import PairsOfClasses
from margin.estimators.given import GivenKernel


class KernelPerceptronClassifier(GivenKernel, ScoringClassifier):
    """One function for two classes, else one for each class against the rest."""

    @property
    def support_(self) -> np.ndarray:
        """Training rows that were corrected, ascending."""
        model = self._fitted()
        taken = [model.dual(s)[0] for s in range(model.score_count)]
        return np.unique(np.concatenate(taken)).astype(np.int32)


class KernelClassifier(PairsOfClasses, Classifier):
    """Support vector machines with a kernel: one function for each pair of classes."""

    decision_function_shape: str

    def decision_function(self, X: Any) -> np.ndarray:
        """How much speaks for each class, or each of a pair.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_queries,), (n_queries, n_classes) or (n_queries, n_pairs)
            Two classes: one number a row, positive for the second; more: as `decision_function_shape` says.
        """
        rows = self._query(X)
        if len(self.classes_) == 2:
            return self.model_.scores(rows, threads=self._threads())[:, 0]
        if self.decision_function_shape == "ovo":
            return self.model_.scores(rows, threads=self._threads())
        return self.model_.class_scores(rows, threads=self._threads())
