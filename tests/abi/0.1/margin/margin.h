#ifndef MARGIN_MARGIN_H
#define MARGIN_MARGIN_H
#include "margin/arrow.h"
#include "margin/base.h"
#include "margin/data.h"
#include "margin/functions.h"
#include "margin/importance.h"
#include "margin/measure.h"
#include "margin/model.h"
#include "margin/neighbors.h"
#include "margin/path.h"
#include "margin/promise.h"
#include "margin/search.h"
#include "margin/spec.h"
#include "margin/split.h"
#include "margin/statistics.h"
#endif
