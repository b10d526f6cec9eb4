// Package report builds a Report from the analysis of a benchmark's runs. It writes it as text
// for a terminal, Markdown, a page of HTML, SVG, CSV or JSON. Read reads the JSON.
//
// Every form shows a figure in the group of its durability tier, beside its interval and the
// findings of the validity checks. It compares nothing across tiers, says where no difference
// can be claimed, and lists rejected and failed runs with their reasons. These runs are
// excluded from every figure.
//
// Names and messages are untrusted. Each form neutralises markup, formulas and control
// sequences of terminals.
//
// The package is pure: its results depend on its arguments only.
package report
