package postgres

// Statement of what an acknowledged commit survives.
type Statement struct {
	Tier         Tier
	Acknowledged string // when a commit is acknowledged
	Losses       []Loss
}

// Loss says what one event does to acknowledged commits: Kept, MayBeLost or Lost.
type Loss struct{ Event, AcknowledgedCommits, Detail string }

// Durability says what an acknowledged commit survives. It knows the tier and the
// number of instances, not the storage: where that matters it says so.
func Durability(t Tier, instances int) Statement {
	const site = "every copy is at one site; keep a WAL archive elsewhere"
	s := Statement{Tier: t}
	crash := Loss{"ProcessCrash", "Kept", "the WAL was flushed to the volume before the acknowledgement"}
	node := Loss{"NodeLoss", "MayBeLost", "kept if the volume outlives its node and the primary restarts on it; failover to an asynchronous standby may lose the last commits"}
	switch t {
	case Quorum:
		s.Acknowledged = "after a flush on the primary and on at least one standby; writes stop while no standby can confirm"
		node = Loss{"NodeLoss", "Kept", "a standby on another node has it; losing all nodes that hold it loses it"}
		if instances < 2 {
			s.Acknowledged = "never: there is no standby to confirm a commit"
			node = Loss{"NodeLoss", "MayBeLost", "there is no standby"}
		}
	case Async:
		s.Acknowledged = "before it is flushed: up to 3 x wal_writer_delay of commits may be lost"
		node.Detail = "up to 3 x wal_writer_delay of the last commits, and what no standby has received"
		crash = Loss{"ProcessCrash", "MayBeLost", "up to 3 x wal_writer_delay of the last commits; what remains is consistent"}
	default:
		s.Acknowledged = "after a flush on the primary"
	}
	if instances < 2 && t == Local {
		node.Detail = "there is no standby: kept only if the volume outlives its node"
		node.AcknowledgedCommits = "MayBeLost"
	}
	s.Losses = []Loss{crash, node, {"SiteLoss", "Lost", site}}
	return s
}
