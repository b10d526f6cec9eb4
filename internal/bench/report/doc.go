// Package report shows what was measured: a Report, built from the analysis of a
// benchmark's runs, as text for a terminal, Markdown, a page of HTML, SVG, CSV or
// JSON, from which it is read again.
//
// Whatever the form, every figure stands in the group of its durability tier, beside
// its interval and what the validity checks found; nothing is compared from one tier
// to another; where no difference can be claimed, that is said; and a run that was
// rejected or failed is listed with its reason and counts for nothing.
//
// Names and messages may come from anywhere. They are shown, never obeyed: markup,
// formulas and the control sequences of terminals are made harmless by each form.
//
// Everything is a function of its arguments.
package report
