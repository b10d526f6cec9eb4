package decide

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// ARCLimit that another PgNodeStorage of the node declares. A node has one ARC.
type ARCLimit struct {
	NodeStorage string
	Max         resource.Quantity
}

// OlderARCLimit returns the limit of the oldest PgNodeStorage among all of the node, if that is
// older than s; else nil. So two profiles do not set the limit by turns.
func OlderARCLimit(s *v1alpha1.PgNodeStorage, all []v1alpha1.PgNodeStorage) *ARCLimit {
	oldest := s
	for i := range all {
		o := &all[i]
		if o.Spec.NodeName == s.Spec.NodeName && o.Spec.ARCMax != nil && o.DeletionTimestamp == nil && older(o, oldest) {
			oldest = o
		}
	}
	if oldest.Name == s.Name {
		return nil
	}
	return &ARCLimit{NodeStorage: oldest.Name, Max: *oldest.Spec.ARCMax}
}

func older(a, b *v1alpha1.PgNodeStorage) bool {
	if at, bt := a.CreationTimestamp.Time, b.CreationTimestamp.Time; !at.Equal(bt) {
		return at.Before(bt)
	}
	return a.Name < b.Name
}

// arc sets the limit, unless an older PgNodeStorage has another one.
func (c *Changes) arc(want *resource.Quantity, have zfs.ARC, older *ARCLimit) {
	switch {
	case want == nil:
		return
	case older != nil && older.Max.Cmp(*want) != 0:
		c.Refused = append(c.Refused, fmt.Sprintf(msgOlderARCLimit, older.NodeStorage, older.Max.String()))
		return
	}
	if n := uint64(max(0, want.Value())); n != have.Max {
		c.ARCMax = n
		c.drifts(differs("the node", "zfs_arc_max", want.String(), fmt.Sprint(have.Max)))
	}
}
