// Package durability says what an acknowledged commit survives, by the tier that a
// database declares, its instances, and where a flush of its volumes goes.
package durability

import "fmt"

// Tier says what an acknowledged commit survives; see [Of].
type Tier string

// Tiers.
const (
	Quorum Tier = "Quorum"
	Local  Tier = "Local"
	Async  Tier = "Async"
	// Ephemeral promises nothing: fsync is off, and volumes are in the memory of nodes.
	Ephemeral Tier = "Ephemeral"
	// ReadOnly acknowledges no commit: the database follows another one.
	ReadOnly Tier = "ReadOnly"
)

// Flushes says that a commit of the tier is acknowledged after a flush.
func (t Tier) Flushes() bool { return t != Async && t != Ephemeral && t != ReadOnly }

// Statement of what an acknowledged commit survives.
type Statement struct {
	Tier         Tier
	Acknowledged string // when a commit is acknowledged
	Losses       []Loss
}

// Loss says what one event does to acknowledged commits: Kept, MayBeLost or Lost.
type Loss struct{ Event, AcknowledgedCommits, Detail string }

// Flush says where a flush goes, of storage that is more than a disk of its node.
// The zero value is a volume of which nothing is known.
type Flush struct {
	// To completes "a flush goes ...".
	To string
	// Node says what of a flush a lost node leaves.
	Node string
	// Site and Store are what becomes of commits with the site, and with a store.
	Site  Loss
	Store *Loss
}

// Standbys that confirm a commit under the tier Quorum. The zero value is any one.
type Standbys struct {
	// Number of standbys; 0 is 1.
	Number int
	// First in order of priority, in place of any.
	First bool
	// Domain is the label of nodes whose value differs between all instances; empty
	// where instances may share a failure domain.
	Domain string
}

// acknowledged says when a commit is acknowledged that waits for them.
func (q Standbys) acknowledged() string {
	who, stop := "at least one standby", "no standby can confirm"
	if q.Number > 1 {
		who, stop = fmt.Sprintf("at least %d standbys", q.Number), "fewer can confirm"
	}
	if q.First {
		who = "the first standby by priority"
		if q.Number > 1 {
			who = fmt.Sprintf("the first %d standbys by priority", q.Number)
		}
	}
	return "after a flush on the primary and on " + who + "; writes stop while " + stop
}

// Of says what an acknowledged commit survives, by the tier, the number of
// instances, the standbys that confirm it, and where a flush goes.
func Of(t Tier, instances int, q Standbys, f Flush) Statement {
	switch t {
	case Ephemeral: // a flush goes nowhere
		return ephemeral(instances)
	case ReadOnly:
		return Statement{Tier: t, Acknowledged: "never, because the database follows another one and takes only reads"}
	}
	s := statement(t, instances, q)
	if f.To == "" {
		return s
	}
	if t != Async && (t != Quorum || instances >= 2) {
		s.Acknowledged += "; a flush goes " + f.To
	}
	for i := range s.Losses {
		f.apply(&s.Losses[i], t, instances)
	}
	if f.Store != nil {
		s.Losses = append(s.Losses, *f.Store)
	}
	if t == Async {
		relax(s.Losses)
	}
	return s
}

// ephemeral is the statement of the tier Ephemeral.
//
// A crash of the software alone loses what Postgres had not written yet. Pages of a tmpfs
// outlive the process that wrote them (PostgreSQL, "Non-Durable Settings"). One
// kind of crash is worse. Linux stops the write of a process that it kills at a page of
// 4 kB (generic_perform_write), and a page of Postgres has 8 kB. So the OOM killer can
// tear a page, which recovery cannot repair without page images. Several
// instances write those, for pg_rewind.
func ephemeral(instances int) Statement {
	crash := Loss{"ProcessCrash", "MayBeLost", "up to 3 x wal_writer_delay of the last commits. The whole database if the kernel kills Postgres while it writes a page: full_page_writes is off"}
	node := Loss{"NodeLoss", "Lost", "volumes are in the memory of the node, and there is no standby"}
	if instances >= 2 {
		crash.Detail = "up to 3 x wal_writer_delay of the last commits, and what no standby has received"
		node = Loss{"NodeLoss", "MayBeLost", "volumes are in the memory of the nodes. A standby on another node may have all but the last commits; losing all nodes loses the database"}
	}
	site := Loss{"SiteLoss", "Lost", "every copy is in memory at one site, and there is no WAL archive"}
	return Statement{Tier: Ephemeral, Acknowledged: "before it is flushed, to memory that ends with its node", Losses: []Loss{crash, node, site}}
}

// apply to what a volume of which nothing is known would lose.
func (f Flush) apply(l *Loss, t Tier, instances int) {
	switch {
	case l.Event == "SiteLoss":
		*l = f.Site
	case l.Event == "NodeLoss" && t == Local && instances < 2:
		l.Detail = f.Node
	case l.Event == "NodeLoss" && t == Local:
		l.Detail = f.Node + "; failover to an asynchronous standby may lose the last commits"
	}
}

// relax what is kept of commits that were flushed: not all were.
func relax(losses []Loss) {
	for i, l := range losses {
		if l.AcknowledgedCommits == "Kept" {
			losses[i].AcknowledgedCommits = "MayBeLost"
			losses[i].Detail = "up to 3 x wal_writer_delay of the last commits; " + l.Detail
		}
	}
}

// asyncCrash is the crash of a process under the tier Async. CloudNativePG promotes a
// standby then, also where the primary could recover (restart_after_crash is off).
func asyncCrash(instances int) Loss {
	lost := "up to 3 x wal_writer_delay of the last commits"
	if instances >= 2 {
		lost += ", and what no standby has received"
	}
	return Loss{"ProcessCrash", "MayBeLost", lost + "; what remains is consistent"}
}

// durability on a volume of which nothing is known: where that matters it says so.
func statement(t Tier, instances int, q Standbys) Statement {
	const site = "every copy is at one site; keep a WAL archive elsewhere"
	s := Statement{Tier: t}
	crash := Loss{"ProcessCrash", "Kept", "the WAL was flushed to the volume before the acknowledgement"}
	node := Loss{"NodeLoss", "MayBeLost", "kept if the volume outlives its node and the primary restarts on it; failover to an asynchronous standby may lose the last commits"}
	switch t {
	case Quorum:
		s.Acknowledged = q.acknowledged()
		node = Loss{"NodeLoss", "Kept", "a standby on another node has it; losing all nodes that hold it loses it"}
		if instances < 2 {
			s.Acknowledged = "never: there is no standby to confirm a commit"
			node = Loss{"NodeLoss", "MayBeLost", "there is no standby"}
		}
	case Async:
		s.Acknowledged = "before it is flushed: up to 3 x wal_writer_delay of commits may be lost"
		node.Detail = "up to 3 x wal_writer_delay of the last commits, and what no standby has received"
		crash = asyncCrash(instances)
	default:
		s.Acknowledged = "after a flush on the primary"
		if instances >= 2 {
			crash = Loss{"ProcessCrash", "MayBeLost", "kept if the primary restarts before CloudNativePG fails over (spec.failoverDelay, 0 by default); failover to an asynchronous standby may lose the last commits"}
		} else {
			node = Loss{"NodeLoss", "MayBeLost", "there is no standby: kept only if the volume outlives its node"}
		}
	}
	s.Losses = []Loss{crash, node}
	if t == Quorum && instances >= 2 && q.Domain != "" {
		s.Losses = append(s.Losses, Loss{"FailureDomainLoss", "Kept", fmt.Sprintf("a standby with another value of the node label %s has it; losing every domain that holds it loses it", q.Domain)})
	}
	s.Losses = append(s.Losses, Loss{"SiteLoss", "Lost", site})
	return s
}
