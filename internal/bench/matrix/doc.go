// Package matrix plans a benchmark of many variants: which there are, in which sequence they
// run, and how long that takes. After any interruption it says which run is next.
//
// The order is a randomised complete block design: each repeat runs every variant once, in an
// order of its own. So a drift, of a machine that warms up or a volume that fills, affects all
// variants alike. Variants are compared within repeats. The order depends only on the seed and
// the variants' names.
//
// A plan is derived again from its Spec whenever it is needed. The ID of a run is its variant
// and repeat, never its place in the order, so records of finished runs stay valid.
package matrix
