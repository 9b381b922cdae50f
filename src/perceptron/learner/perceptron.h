/* The perceptron family: primal, dual and kernel form; plain, pocket, averaged; two classes or
 * several trained together. See docs/perceptron.md. */
#ifndef MG_PERCEPTRON_H
#define MG_PERCEPTRON_H

#include "learn/learner.h"

extern const mg_learner mg_learner_perceptron;

#endif
