// Package comparison says which variants of a benchmark differ, and ranks them,
// within one durability tier and never across.
//
// A commit that is acknowledged before it is flushed is another thing than one that
// is: to set their rates against each other is the way in which published figures
// mislead. So there is no function here that takes two results. Results go in
// together, come out as one Group for each tier, and only a Group compares and
// ranks, and only what is in it. Groups may be shown side by side. Between, which
// holds one benchmark against an older one, compares what has the same name and the
// same tier in both.
package comparison
