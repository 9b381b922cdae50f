/* Tails of the distributions that tests of significance use.
 *
 * Relative accuracy about 1e-15 for every tail down to the least normal number, for degrees of
 * freedom from fractions to 1e15 and above: sums and continued fractions in long double, with
 * Stirling's remainders in place of differences of log-gammas. (Where long double is double,
 * 1e-13.) NaN in, or degrees of freedom that are not above 0: NaN. No locale, no errno, no globals.
 */
#pragma once

/* P(|Z| > |z|) of a standard normal Z. */
double mg_normal_two_sided(double z);
/* P(|T| > |t|) of Student's t with `freedom` degrees of freedom. */
double mg_student_two_sided(double t, double freedom);
/* P(F > f) with freedom1 and freedom2 degrees of freedom; 1 for f <= 0. */
double mg_fisher_upper(double f, double freedom1, double freedom2);
/* P(X > x) of chi-squared with `freedom` degrees of freedom; 1 for x <= 0. */
double mg_chi_squared_upper(double x, double freedom);

/* The t > 0 with mg_student_two_sided(t, freedom) = p, for 0 < p < 1; freedom INFINITY: the normal
 * distribution. */
double mg_student_quantile(double p, double freedom);
