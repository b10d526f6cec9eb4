package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// caveat of a group. However many variants and repeats share it, the report says it once, and
// refers to it by its number from 1.
type caveat struct {
	// short form, for example "Rejected PodThrottled".
	short string
	// about are the variants that have it, with their repeats.
	about []subject
	// message of the first of them.
	message string
	// apart is true if the messages of others differ.
	apart bool
	// all variants of a group have it, so that no figure refers to it.
	all bool
}

// subject of a caveat: repeats of a variant, or without repeats the variant.
type subject struct {
	variant string
	repeats []int
}

func (s subject) String() string {
	if len(s.repeats) == 0 {
		return s.variant
	}
	return s.variant + " " + of(s.repeats)
}

// caveats of a group: failures first, then rejections, then the rest.
func (g Group) caveats() []caveat {
	var all caveats
	variants := g.ordered()
	for _, v := range variants {
		for _, r := range v.Repeats {
			if r.Failure != "" {
				all.add("Failed", r.Failure, subject{v.Name, []int{r.Number}})
			}
		}
	}
	for _, verdict := range []validity.Verdict{validity.Rejected, validity.Caution} {
		for _, v := range variants {
			all.addConcerns(v, verdict)
		}
	}
	for _, v := range variants {
		for _, d := range v.SettingsChanged {
			all.add("A setting changed between repeats", fmt.Sprint(d), subject{variant: v.Name})
		}
	}
	for i := range all {
		all[i].merge()
		all[i].all = len(all[i].about) == len(variants) && len(variants) > 1
	}
	return all
}

type caveats []caveat

func (c *caveats) add(short, message string, s subject) {
	all := *c
	at := slices.IndexFunc(all, func(o caveat) bool { return o.short == short })
	if at < 0 {
		all, at = append(all, caveat{short: short, message: message}), len(all)
	}
	all[at].about = append(all[at].about, s)
	all[at].apart = all[at].apart || all[at].message != message
	*c = all
}

func (c *caveats) addConcerns(v Variant, verdict validity.Verdict) {
	for _, f := range v.concerns() {
		if f.Verdict == verdict {
			c.add(string(f.Verdict)+" "+f.Reason, withoutRepeat(f.Reason, f.Message), subject{v.Name, f.repeats})
		}
	}
}

// withoutRepeat replaces the message of a reason that the verdict explains for all variants.
func withoutRepeat(reason, message string) string {
	if reason == validity.ReasonCPULimitReached {
		return "see the verdict"
	}
	return message
}

// merge subjects of the same variant.
func (c *caveat) merge() {
	var out []subject
	for _, s := range c.about {
		if at := slices.IndexFunc(out, func(o subject) bool { return o.variant == s.variant }); at >= 0 {
			out[at].repeats = append(out[at].repeats, s.repeats...)
			continue
		}
		out = append(out, subject{s.variant, slices.Clone(s.repeats)})
	}
	c.about = out
}

// String is the whole caveat.
func (c caveat) String() string {
	const few = 4
	var words []string
	runs := 0
	for _, s := range c.about {
		words, runs = append(words, s.String()), runs+len(s.repeats)
	}
	if len(words) > few {
		words = append(words[:few-1], fmt.Sprintf("%d more variants", len(words)-few+1))
	}
	if c.all {
		words = []string{allOf(len(c.about))}
	}
	text := c.short
	if runs > 1 {
		text += fmt.Sprintf(", %d runs", runs)
	}
	text += " (" + strings.Join(words, "; ") + "): "
	if c.apart {
		text += "first: "
	}
	return text + c.message
}

// caveatItems are the caveats of the group, and the checks that did not run.
func (g Group) caveatItems() []string {
	var items []string
	for _, c := range g.caveats() {
		items = append(items, c.String())
	}
	return append(items, g.uncheckedItems()...)
}

// caveatsOf a variant by their numbers, without those of all variants.
func (g Group) caveatsOf(v Variant) []int {
	return matching(g.caveats(), false, func(s subject) bool { return s.variant == v.Name })
}

// caveatsOfRepeat of a variant by their numbers.
func (g Group) caveatsOfRepeat(v Variant, repeat int) []int {
	return matching(g.caveats(), true, func(s subject) bool { return s.variant == v.Name && slices.Contains(s.repeats, repeat) })
}

func matching(all []caveat, shared bool, about func(subject) bool) []int {
	var found []int
	for i, c := range all {
		if c.all && !shared {
			continue
		}
		if slices.ContainsFunc(c.about, about) {
			found = append(found, i+1)
		}
	}
	return found
}

// references to caveats, for example "caveats 1 and 3"; "" for none.
func references(caveats []int) string {
	switch len(caveats) {
	case 0:
		return ""
	case 1:
		return "caveat " + numbers(caveats)
	}
	return "caveats " + numbers(caveats)
}
