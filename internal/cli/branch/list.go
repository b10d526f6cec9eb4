package branch

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/status"
	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// Row is a branch and its place in the tree of branches.
type Row struct {
	Branch *v1alpha1.PgStorageBranch
	// Stem is drawn in front of the name.
	Stem string
}

// Rows returns branches by namespace and source, each followed by the branches of itself.
func Rows(in []v1alpha1.PgStorageBranch) []Row {
	in = slices.Clone(in)
	slices.SortFunc(in, func(a, b v1alpha1.PgStorageBranch) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Spec.Source.Cluster, b.Spec.Source.Cluster), cmp.Compare(a.Name, b.Name))
	})
	d := &drawing{all: in, seen: map[string]bool{}}
	for i := range in {
		if !slices.ContainsFunc(in, func(b v1alpha1.PgStorageBranch) bool { return status.IsBranchOf(&in[i], b.Namespace, b.Name) }) {
			d.add(&in[i], "", "")
		}
	}
	// Branches that name each other as their source have no root.
	for i := range in {
		d.add(&in[i], "", "")
	}
	return d.rows
}

type drawing struct {
	all  []v1alpha1.PgStorageBranch
	seen map[string]bool
	rows []Row
}

// add adds a branch and its branches. below is the stem of the latter.
func (d *drawing) add(b *v1alpha1.PgStorageBranch, stem, below string) {
	if d.seen[b.Namespace+"/"+b.Name] {
		return
	}
	d.seen[b.Namespace+"/"+b.Name] = true
	d.rows = append(d.rows, Row{b, stem})
	children := status.BranchesOf(d.all, b.Namespace, b.Name)
	for i, child := range children {
		if i == len(children)-1 {
			d.add(child, below+"└── ", below+"    ")
			continue
		}
		d.add(child, below+"├── ", below+"│   ")
	}
}

// ListText formats rows, with ages and expirations at now.
func ListText(rows []Row, now time.Time, namespaces bool) string {
	head := []string{"NAME", "SOURCE", "READY", "REASON", "SPACE", "EXPIRES", "AGE"}
	if namespaces {
		head = append([]string{"NAMESPACE"}, head...)
	}
	out := [][]string{head}
	for _, r := range rows {
		cells := cellsOf(r, now)
		if namespaces {
			cells = append([]string{r.Branch.Namespace}, cells...)
		}
		out = append(out, cells)
	}
	return view.Columns(out...)
}

func cellsOf(r Row, now time.Time) []string {
	b, state, reason, expires := r.Branch, "Unknown", "", ""
	if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReady); c != nil {
		state, reason = string(c.Status), c.Reason
	}
	if e := b.Status.ExpirationTime; e != nil {
		expires = "now"
		if left := e.Sub(now); left > 0 {
			expires = "in " + duration.HumanDuration(left)
		}
	}
	return []string{
		r.Stem + b.Name, b.Spec.Source.Cluster, state, view.Or(reason), view.Or(space(b)), view.Or(expires),
		duration.HumanDuration(now.Sub(b.CreationTimestamp.Time)),
	}
}

// space that a branch alone takes; empty if it is unknown.
func space(b *v1alpha1.PgStorageBranch) string {
	if b.Status.Space == nil {
		return ""
	}
	return b.Status.Space.String()
}
