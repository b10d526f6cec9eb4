// Package statistics says what repeats of a measurement allow to claim: the range of the
// figure, whether two variants differ, and where a run changed.
//
// It is made for few repeats, five by default. Its rules, each with its source in its function:
//
//   - The interval of a mean is Student's t at 95%. The interval of a median from
//     order statistics alone assumes nothing, but does not exist below six values:
//     the widest of five covers 93.75%. A bootstrap of five values promises 95%
//     and keeps less.
//   - Variants are compared by logarithms, so by ratio: a storage is "so many
//     percent faster", and what disturbs a machine multiplies. The test is the
//     paired t test where each repeat ran both variants. It removes what the
//     machine did to the whole repeat. Otherwise it is Welch's.
//   - The Mann-Whitney U test is reported beside it, since it needs no assumption.
//     With five against five it can reach 0.008, and after a correction for many
//     comparisons it can never be significant; so it does not decide.
//   - P-values of one question are corrected together, by Holm.
//   - Outliers are named, never removed.
//
// Everything is a function of its arguments: no clock, no chance.
package statistics
