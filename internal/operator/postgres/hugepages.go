package postgres

import "fmt"

// HugePages of one size that an instance has for itself, in bytes: Kubernetes takes
// no others into its control group.
type HugePages struct{ Size, Bytes int64 }

// pages that hold shared memory, with the given parameters: those of huge_page_size
// when it is given, else the larger amount. False where none are requested, or
// huge_pages is off.
func (in Inputs) pages(given map[string]string) (HugePages, bool) {
	var best HugePages
	if given["huge_pages"] == "off" {
		return best, false
	}
	size, _ := BaseValue(in.Major, "huge_page_size", given["huge_page_size"])
	for _, p := range in.HugePages {
		if p.Bytes > best.Bytes && (size == 0 || p.Size == int64(size)*kB) {
			best = p
		}
	}
	return best, best.Bytes > 0
}

// huge pages are used only when they are requested. With "try" a server on a node with
// huge pages would map pages that its control group does not allow. It would end with a
// bus error at the first touch (PostgreSQL bug 17757).
func (c *computation) huge() {
	pages, ok := c.in.pages(c.given)
	if !ok {
		c.set("huge_pages", "off", "spec.resources requests no huge pages, and a server that maps pages of its node without a request ends with a bus error")
		return
	}
	c.set("huge_pages", "on", fmt.Sprintf("%s of huge pages of %s are requested", amount(pages.Bytes), amount(pages.Size)))
	c.size("huge_page_size", pages.Size, "the size that is requested")
}

// buffersIn is the largest shared_buffers with which all of shared memory fits.
func (v numbers) buffersIn(bytes int64) int64 {
	v["shared_buffers"] = 0
	return int64(float64(bytes-v.shared())/(1+sharedExtra)) / mB * mB
}

// hugeUnavailable refuses huge pages that no request has reserved.
func hugeUnavailable(in Inputs, name, value string) *Refusal {
	if value == "off" || len(in.HugePages) > 0 {
		return nil
	}
	return refuse(name, RefusedMemory, "%s needs huge pages, and spec.resources requests none; request them, as hugepages-2Mi in spec.resources.requests and limits, or remove it", value)
}

// hugeSizeUnavailable refuses a size of which none are requested.
func hugeSizeUnavailable(in Inputs, name, value string) *Refusal {
	n, _ := BaseValue(in.Major, name, value)
	if _, ok := in.pages(map[string]string{name: value}); n == 0 || ok {
		return nil
	}
	return refuse(name, RefusedMemory, "no huge pages of %s are requested in spec.resources; request them there, or remove it", value)
}

// sharedNotMapped refuses System V shared memory where huge pages are used, with
// which Postgres does not start.
func sharedNotMapped(in Inputs, name, value string) *Refusal {
	if value == "mmap" || len(in.HugePages) == 0 {
		return nil
	}
	return refuse(name, RefusedRange, "Postgres does not start with %s on huge pages, which spec.resources requests; remove it", value)
}

// hugeFit refuses shared memory that the huge pages cannot hold.
func (in Inputs) hugeFit(given map[string]string, v numbers) *Refusal {
	pages, ok := in.pages(given)
	if !ok || v.shared() <= pages.Bytes {
		return nil
	}
	needs := rounded(v.shared())
	if _, asked := given["shared_buffers"]; !asked {
		return &Refusal{"huge_pages", RefusedMemory, fmt.Sprintf("spec.resources.limits: %s of huge pages do not hold the %s of shared memory; request more, or none", amount(pages.Bytes), needs)}
	}
	return refuse("shared_buffers", RefusedMemory, "%s makes %s of shared memory, which the %s of huge pages in spec.resources do not hold; use at most %s, or request more", given["shared_buffers"], needs, amount(pages.Bytes), amount(v.buffersIn(pages.Bytes)))
}
