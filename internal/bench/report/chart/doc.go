// Package chart draws the charts of a benchmark's report as SVG, by gonum/plot.
//
// Each chart is drawn twice: 900 points wide for a desk and for paper, and 340 points wide for a
// telephone. A page shows the one that fits, so that text stays readable. A chart that needs
// more room is wider and scrolls. Colours are attributes that every renderer of SVG knows, for
// a light page; a class beside each lets Style change them on a dark one. Nothing depends on
// colour alone.
//
// Texts must be printable: this package does not escape what XML cannot contain.
package chart
