package durability

import (
	"slices"
	"testing"
)

// Where a flush goes decides what is left of commits, and a tier what is flushed.
func TestDurabilityOfStores(t *testing.T) {
	flush := Flush{To: "to bucket b", Node: "kept in the store", Site: Loss{"SiteLoss", "MayBeLost", "site"}, Store: &Loss{"StoreLoss", "Kept", "others have it"}}
	const standby = "after a flush on the primary and on at least one standby; writes stop while no standby can confirm"
	for _, c := range []struct {
		tier              Tier
		n                 int
		acknowledged      string
		node, nodeDetail  string
		store, storeWords string
	}{
		{Local, 1, "after a flush on the primary; a flush goes to bucket b", "MayBeLost", "kept in the store", "Kept", "others have it"},
		{Local, 2, "after a flush on the primary; a flush goes to bucket b", "MayBeLost", "kept in the store; failover to an asynchronous standby may lose the last commits", "Kept", "others have it"},
		{Quorum, 2, standby + "; a flush goes to bucket b", "Kept", "a standby on another node has it; losing all nodes that hold it loses it", "Kept", "others have it"},
		{Quorum, 1, "never: there is no standby to confirm a commit", "MayBeLost", "there is no standby", "Kept", "others have it"},
		{
			Async, 2, "before it is flushed: up to 3 x wal_writer_delay of commits may be lost", "MayBeLost", "up to 3 x wal_writer_delay of the last commits, and what no standby has received",
			"MayBeLost", "up to 3 x wal_writer_delay of the last commits; others have it",
		},
	} {
		s := Of(c.tier, c.n, Standbys{}, flush)
		want := []Loss{s.Losses[0], {"NodeLoss", c.node, c.nodeDetail}, flush.Site, {"StoreLoss", c.store, c.storeWords}}
		if s.Acknowledged != c.acknowledged || !slices.Equal(s.Losses, want) {
			t.Errorf("%s %d: %+v", c.tier, c.n, s)
		}
	}
}

func TestDurability(t *testing.T) {
	for _, c := range []struct {
		tier              Tier
		n                 int
		crash, node, site string
	}{
		{Quorum, 3, "Kept", "Kept", "Lost"}, {Quorum, 2, "Kept", "Kept", "Lost"}, {Quorum, 1, "Kept", "MayBeLost", "Lost"},
		{Local, 1, "Kept", "MayBeLost", "Lost"}, {Local, 2, "MayBeLost", "MayBeLost", "Lost"}, {Local, 3, "MayBeLost", "MayBeLost", "Lost"},
		{Async, 1, "MayBeLost", "MayBeLost", "Lost"}, {Async, 2, "MayBeLost", "MayBeLost", "Lost"},
	} {
		s := Of(c.tier, c.n, Standbys{}, Flush{})
		if got := []string{s.Losses[0].AcknowledgedCommits, s.Losses[1].AcknowledgedCommits, s.Losses[2].AcknowledgedCommits}; !slices.Equal(got, []string{c.crash, c.node, c.site}) || s.Acknowledged == "" {
			t.Errorf("%s %d: %+v", c.tier, c.n, s)
		}
	}
}

// CloudNativePG answers a crash of the primary by a failover, to a standby that may lack
// commits unless they waited for one.
func TestACrashMayEndInAFailover(t *testing.T) {
	const failover = "kept if the primary restarts before CloudNativePG fails over (spec.failoverDelay, 0 by default); failover to an asynchronous standby may lose the last commits"
	for _, c := range []struct {
		tier   Tier
		n      int
		detail string
	}{
		{Local, 1, "the WAL was flushed to the volume before the acknowledgement"},
		{Local, 2, failover},
		{Quorum, 3, "the WAL was flushed to the volume before the acknowledgement"},
		{Async, 1, "up to 3 x wal_writer_delay of the last commits; what remains is consistent"},
		{Async, 3, "up to 3 x wal_writer_delay of the last commits, and what no standby has received; what remains is consistent"},
	} {
		for _, f := range []Flush{{}, {To: "to bucket b", Node: "kept in the store"}} {
			if got := Of(c.tier, c.n, Standbys{}, f).Losses[0]; got.Event != "ProcessCrash" || got.Detail != c.detail {
				t.Errorf("%s %d: %+v, want %q", c.tier, c.n, got, c.detail)
			}
		}
	}
}

// Nothing that is known of a flush makes a promise of the tier Ephemeral.
func TestEphemeralPromisesNothing(t *testing.T) {
	flush := Flush{To: "to bucket b", Node: "kept in the store", Site: Loss{"SiteLoss", "Kept", "site"}, Store: &Loss{"StoreLoss", "Kept", "others have it"}}
	for _, c := range []struct {
		n                       int
		crash, node, nodeDetail string
	}{
		{1, "up to 3 x wal_writer_delay of the last commits. The whole database if the kernel kills Postgres while it writes a page: full_page_writes is off", "Lost", "volumes are in the memory of the node, and there is no standby"},
		{2, "up to 3 x wal_writer_delay of the last commits, and what no standby has received", "MayBeLost", "volumes are in the memory of the nodes. A standby on another node may have all but the last commits; losing all nodes loses the database"},
	} {
		for _, f := range []Flush{{}, flush} {
			s := Of(Ephemeral, c.n, Standbys{Number: 1, Domain: "zone"}, f)
			want := []Loss{
				{"ProcessCrash", "MayBeLost", c.crash},
				{"NodeLoss", c.node, c.nodeDetail},
				{"SiteLoss", "Lost", "every copy is in memory at one site, and there is no WAL archive"},
			}
			if s.Tier != Ephemeral || s.Acknowledged != "before it is flushed, to memory that ends with its node" || !slices.Equal(s.Losses, want) {
				t.Errorf("%d instances: %+v", c.n, s)
			}
		}
	}
}

func TestStandbysThatConfirm(t *testing.T) {
	for _, c := range []struct {
		standbys     Standbys
		acknowledged string
		events       []string
	}{
		{Standbys{}, "at least one standby; writes stop while no standby can confirm", []string{"ProcessCrash", "NodeLoss", "SiteLoss"}},
		{Standbys{Number: 2}, "at least 2 standbys; writes stop while fewer can confirm", []string{"ProcessCrash", "NodeLoss", "SiteLoss"}},
		{Standbys{Number: 1, First: true}, "the first standby by priority; writes stop while no standby can confirm", []string{"ProcessCrash", "NodeLoss", "SiteLoss"}},
		{Standbys{Number: 2, First: true, Domain: "zone"}, "the first 2 standbys by priority; writes stop while fewer can confirm", []string{"ProcessCrash", "NodeLoss", "FailureDomainLoss", "SiteLoss"}},
	} {
		s := Of(Quorum, 3, c.standbys, Flush{})
		var events []string
		for _, l := range s.Losses {
			events = append(events, l.Event)
		}
		if s.Acknowledged != "after a flush on the primary and on "+c.acknowledged || !slices.Equal(events, c.events) {
			t.Errorf("%+v: %q %q", c.standbys, s.Acknowledged, events)
		}
	}
	if s := Of(Local, 3, Standbys{Domain: "zone"}, Flush{}); len(s.Losses) != 3 {
		t.Errorf("Local has a failure domain: %+v", s)
	}
}
