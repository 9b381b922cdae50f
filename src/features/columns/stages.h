/* The stages and what they share. One file per stage; the table entry at its end. */
#pragma once

#include "learn/learner.h"

extern const mg_stage mg_stage_fourier, mg_stage_impute, mg_stage_minmax, mg_stage_normalize,
    mg_stage_nystroem, mg_stage_onehot, mg_stage_poly, mg_stage_rbf, mg_stage_standardize;

/* What the parser puts behind stages alone; not in the catalogue. Its functions are the columns. */
extern const mg_learner mg_learner_transform;
extern const mg_hypothesis_kind mg_hypothesis_identity;
