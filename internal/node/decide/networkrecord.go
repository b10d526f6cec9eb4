package decide

import "time"

// NetworkRecord is what the agent keeps on the node's disk, in addition to what the
// kernel knows.
type NetworkRecord struct {
	// PoolGUID of the pool on the devices.
	PoolGUID string `json:"poolGUID,omitempty"`
	// Sizes that devices had, by name, in bytes. An export never becomes smaller.
	Sizes map[string]uint64 `json:"sizes,omitempty"`
	// Returning devices were attached again below the imported pool, and have not yet
	// returned to their mirror.
	Returning []string `json:"returning,omitempty"`
	// Asked lists those for which the agent has started zpool online. It may not have
	// finished.
	Asked []string `json:"asked,omitempty"`
	// Returned devices, and when they returned: less than SettleTime ago.
	Returned map[string]time.Time `json:"returned,omitempty"`
	// Scrub is due: a device returned that may lack data which ZFS assumes to be written.
	Scrub bool `json:"scrub,omitempty"`
	// Suspect devices are those, until the scrub has ended: the agent drops no other
	// device in favour of one.
	Suspect []string `json:"suspect,omitempty"`
	// ScrubSince is when the agent last started that scrub; zero before.
	ScrubSince time.Time `json:"scrubSince,omitzero"`
	// Reconnected devices by name.
	Reconnected map[string]Reconnection `json:"reconnected,omitempty"`
	// Left is the life that a device belonged to when it was dropped, by its name.
	Left map[string]string `json:"left,omitempty"`
	// Released is true if the pool was exported cleanly since it was last imported.
	Released bool `json:"released,omitempty"`
	// Grown is the size of exports in bytes for which the pool was last released.
	Grown uint64 `json:"grown,omitempty"`
	// Restart of the node that was announced last.
	Restart *Restart `json:"restart,omitempty"`
}

// Reconnection of a device to a successor of the life in the kernel's identifier.
type Reconnection struct {
	BootID string `json:"bootID"`
	From   string `json:"from"`
	To     string `json:"to"`
}

// Restart of a node, recorded so that the agent restarts it once for each loss.
type Restart struct {
	BootID string    `json:"bootID"`
	Lost   string    `json:"lost"`
	At     time.Time `json:"at"`
	// Done is written right before the restart.
	Done bool `json:"done,omitempty"`
	// Wait is the least time until another one.
	Wait time.Duration `json:"wait,omitempty"`
}
