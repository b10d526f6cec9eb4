package layout

import "fmt"

// Loss says what one event does to the data of a volume: Kept, Unavailable or Lost.
// Unavailable data returns with the failed part, or when Ceph has created its copies
// again.
type Loss struct{ Event, Data, Detail string }

// Losses of single and double failures.
func (c Ceph) Losses() []Loss {
	out := []Loss{c.disk(), c.copies("OSDLoss", 1, "an OSD"), c.node()}
	if c.Pinned {
		return out
	}
	if c.Domain != "osd" {
		out = append(out, c.copies("TwoNodesLoss", 2, "two "+c.Domain+"s at once"))
	}
	return out
}

// disk of a node.
func (c Ceph) disk() Loss {
	if c.ZFS != nil && c.ZFS.survives() > 0 {
		return Loss{"DiskLoss", "Kept", fmt.Sprintf("the pool of the node continues with %d disk less in each vdev", c.ZFS.survives())}
	}
	l := c.copies("DiskLoss", 1, "a disk")
	l.Detail += "; every OSD on it is lost with it"
	return l
}

func (c Ceph) node() Loss {
	if c.Domain != "osd" {
		return c.copies("NodeLoss", 1, "a node")
	}
	return Loss{"NodeLoss", "Lost", "copies are apart by OSD only, and all of them may be on one node"}
}

// copies that are left when so many failure domains are away.
func (c Ceph) copies(event string, away int, what string) Loss {
	left, least, answers, noun := c.Size-away, 1, c.MinSize, "copies"
	if c.erasureCoded() {
		left, least, answers, noun = c.needed()-away, c.DataChunks, c.DataChunks+1, "chunks"
	}
	left = max(left, 0)
	text := fmt.Sprintf("without %s %d of %d %s are left", what, left, c.needed(), noun)
	switch {
	case left < least:
		return Loss{event, "Lost", text}
	case left < answers:
		return Loss{event, "Unavailable", fmt.Sprintf("%s, and the pool answers from %d on", text, answers)}
	}
	return Loss{event, "Kept", text}
}
