package branch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// DeletionText returns what the deletion of branches deletes, and the branches that hold them.
func DeletionText(in []*v1alpha1.PgStorageBranch) string {
	rows, notes := [][]string{{"NAME", "SOURCE", "DATA", "SPACE", "CHILDREN"}}, ""
	for _, b := range in {
		data := "Deleted"
		if b.Status.Independent {
			data = "Kept"
			notes += fmt.Sprintf("%s is promoted: its PgStorageCluster and its data stay.\n", b.Name)
		}
		rows = append(rows, []string{b.Name, b.Spec.Source.Cluster, data, view.Or(space(b)), view.Or(strings.Join(b.Status.Children, ","))})
		if holders := holding(b, in); len(holders) > 0 {
			notes += fmt.Sprintf("%s is held by %s, which share its volumes. The operator deletes its database at once, and its volumes after them: delete or promote them, too.\n", b.Name, view.Clean(strings.Join(holders, ", ")))
		}
	}
	return view.Columns(rows...) + notes
}

// holding returns the children of a branch that are not deleted together with it.
func holding(b *v1alpha1.PgStorageBranch, deleted []*v1alpha1.PgStorageBranch) []string {
	var out []string
	for _, name := range b.Status.Children {
		if !slices.ContainsFunc(deleted, func(d *v1alpha1.PgStorageBranch) bool { return d.Name == name }) {
			out = append(out, name)
		}
	}
	return out
}

// PromotionRefusal returns an error if a branch cannot be promoted.
func PromotionRefusal(b *v1alpha1.PgStorageBranch) error {
	if b.DeletionTimestamp != nil {
		return fmt.Errorf("PgStorageBranch %s is being deleted", b.Name)
	}
	return nil
}

// PromotionText returns what a promotion does.
func PromotionText(b *v1alpha1.PgStorageBranch) string {
	switch {
	case b.Status.Independent:
		return fmt.Sprintf("PgStorageBranch %s is independent. Nothing is left to do.\n", b.Name)
	case b.Spec.Promote:
		return fmt.Sprintf("PgStorageBranch %s is being promoted.\n", b.Name)
	}
	out := fmt.Sprintf("The promotion copies all data of PgStorageBranch %s onto new volumes, and then deletes its snapshots.\n", b.Name)
	if b.Spec.Source.Backup != nil {
		out = fmt.Sprintf("PgStorageBranch %s was restored from backups, so the promotion copies nothing.\n", b.Name)
	}
	out += fmt.Sprintf("Afterwards it shares nothing with %s, does not expire, and its PgStorageCluster stays when the PgStorageBranch is deleted.\n"+
		"It cannot be undone.\n", b.Spec.Source.Cluster)
	if len(b.Status.Children) > 0 {
		out += fmt.Sprintf("%s share its present volumes. The promotion ends once they are deleted or promoted.\n", view.Clean(strings.Join(b.Status.Children, ", ")))
	}
	return out
}

// Usable returns an error if a branch is not to be used yet.
func Usable(b *v1alpha1.PgStorageBranch) error {
	if meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionReady) {
		return nil
	}
	reason, message := ready(b)
	text := fmt.Sprintf("PgStorageBranch %s is not Ready: %s: %s", b.Name, reason, message)
	if b.Spec.Masking != nil && !meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionMasked) {
		text += "; the SQL of spec.masking has not run, so the branch can have unmasked data of " + b.Spec.Source.Cluster
	}
	return errors.New(view.Clean(text))
}

// Psql returns the arguments of kubectl that run psql in the pod of the primary.
func Psql(cr *v1alpha1.PgStorageCluster, terminal bool, args []string) ([]string, error) {
	d := cr.Status.Database
	if d == nil || d.Primary == "" {
		return nil, fmt.Errorf("PgStorageCluster %s has no primary now; see kubectl pgstorage status %s -n %s", cr.Name, cr.Name, cr.Namespace)
	}
	out := []string{"exec", "-i"}
	if terminal {
		out = append(out, "-t")
	}
	return append(append(out, d.Primary, "-c", "postgres", "--", "psql", cr.Spec.Postgres.Database), args...), nil
}
