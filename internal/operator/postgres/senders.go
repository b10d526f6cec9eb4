package postgres

import (
	"fmt"
	"strconv"
)

// leastSenders are the WAL senders that a database needs. Each standby, read pool and other
// site has one, and a base backup has two. One more is for a standby that connects again before
// its former sender has ended. The clone of a read pool needs three, too.
func (in Inputs) leastSenders() int {
	least := max(in.Instances, 1) - 1 + in.Pools + in.Sites + 3
	if in.Pools > 0 {
		least += 3
	}
	return least
}

// receivers are those that stream WAL, in words.
func (in Inputs) receivers() string {
	text := fmt.Sprintf("%d instances", in.Instances)
	if in.Pools > 0 {
		text += fmt.Sprintf(", %d read pools", in.Pools)
	}
	if in.Sites > 0 {
		text += fmt.Sprintf(", %d other sites", in.Sites)
	}
	return text + " and backups"
}

// senders where the default is too few: a standby without a sender does not stream, and a
// new one is not cloned.
func (c *computation) senders() {
	least, most := int64(c.in.leastSenders()), defaults["max_wal_senders"]
	if least > most {
		c.set("max_wal_senders", strconv.FormatInt(least, 10), fmt.Sprintf("%s need more than the default of %d", c.in.receivers(), most))
	}
}

func tooFewSenders(in Inputs, name, value string) *Refusal {
	least := in.leastSenders()
	if n, _ := BaseValue(in.Major, name, value); n >= float64(least) {
		return nil
	}
	return refuse(name, RefusedUnsafe, "%s is too few: %s need at least %d; raise or remove it", value, in.receivers(), least)
}

// tooFewSlots: CloudNativePG makes a slot for each instance, and none for read pools and sites.
func tooFewSlots(in Inputs, name, value string) *Refusal {
	least := in.Instances + 2
	if n, _ := BaseValue(in.Major, name, value); n >= float64(least) {
		return nil
	}
	return refuse(name, RefusedUnsafe, "%s is too few: %d instances and backups need at least %d; raise or remove it", value, in.Instances, least)
}
