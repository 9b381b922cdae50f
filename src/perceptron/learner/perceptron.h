/* The perceptron family: primal, dual and kernel form; plain, pocket, averaged; two classes or
 * several trained together. See docs/perceptron.md. */
#pragma once

#include "learn/learner.h"

extern const mg_learner mg_learner_perceptron;
