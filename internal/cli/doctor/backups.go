package doctor

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/status"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
)

// mostNames is how many databases without a backup are named.
const mostNames = 10

// backedUp adds a finding about a database that is not backed up as it declares. Where that
// keeps the database from Ready, there is one already.
func (c *checker) backedUp(subject string, cr *v1alpha1.PgStorageCluster) {
	cond := meta.FindStatusCondition(cr.Status.Conditions, v1alpha1.ConditionBackedUp)
	if cond == nil || cond.Status != metav1.ConditionFalse {
		return
	}
	if _, reason, _ := status.StateOf(cr.Generation, cr.Status.ObservedGeneration, cr.Status.Conditions); reason == cond.Reason {
		return
	}
	remedy, link := c.remedy(cond.Reason, "pgstoragecluster")
	c.add(Warning, subject, "not backed up: "+cond.Reason+": "+cond.Message, remedy, link)
}

// unprotected adds one note that names the databases without a backup.
func (c *checker) unprotected(names []string) {
	if len(names) == 0 {
		return
	}
	c.add(Note, "backups", "no backup is declared, so the loss of the site loses the database: "+excerpt.Names(names, mostNames), "set spec.backup", "docs/tutorial-backup.md")
}

// usesPlugin reports whether a database archives or is restored by the Barman Cloud plugin.
func (c *checker) usesPlugin() bool {
	return slices.ContainsFunc(c.facts.Clusters, func(cr v1alpha1.PgStorageCluster) bool { return cr.Spec.Backup != nil || cr.Spec.Origin != nil })
}
