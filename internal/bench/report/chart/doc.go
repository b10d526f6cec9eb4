// Package chart draws the charts of a benchmark's report as SVG, by gonum/plot.
//
// A chart is 320 points wide, so that a telephone shows it as it is; what needs
// more room is wider and is to be scrolled. Colours are attributes that every
// renderer of SVG knows, for a light page; a class beside each lets Style change
// them on a dark one. Nothing is told by colour alone.
//
// Texts must be printable: what no XML may hold is not escaped here.
package chart
