// Package matrix plans a benchmark of many variants: which there are, in which
// order they run, how long that takes, and, whatever was interrupted, which run is
// next.
//
// The order is a randomised complete block design: each repeat runs every variant
// once, in an order of its own. So what drifts, a machine that warms up or a
// volume that fills, meets all variants alike, and variants are compared within
// repeats. The order follows from the seed and the variants' names alone.
//
// A plan is derived again from its Spec whenever it is needed. A run is known by its
// variant and repeat, never by its place in the order, so that records of finished
// runs stay good.
package matrix
