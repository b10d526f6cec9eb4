package zfsvolumes

import (
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/nodes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// Verify compares each volume, as its node's agent read it back, with the profile: a
// dataset below the right parent, with the parent's properties. It proves whole pages
// where every data volume is a dataset whose records contain whole pages. ZFS replaces
// a record as a whole or not at all (OpenZFS, Workload Tuning; PostgreSQL, wal.sgml).
// It proves nothing while devices are detached, because what they contain is unknown.
func (s Storage) Verify(instances int, claims []observed.Claim) (*outcome.Outcome, postgres.Proof) {
	var waits, wrong, torn []string
	data := 0
	for _, c := range claims {
		if c.Role != "" {
			torn = append(torn, s.beside(c)...)
			continue
		}
		if text := unread(c); text != "" {
			waits = append(waits, text)
			continue
		}
		if text := s.differs(c); text != "" {
			wrong = append(wrong, text)
		}
		if c.WAL {
			torn = append(torn, reorders(c)...)
			continue
		}
		data++
		if text := tears(c); text != "" {
			torn = append(torn, text)
		}
		if c.Detached != "" {
			torn = append(torn, fmt.Sprintf("the devices below %s are not all attached: %s", c.Observed.Name, c.Detached))
		}
	}
	if data < instances {
		waits = append(waits, fmt.Sprintf("%d of %d data volumes were read back", data, instances))
	}
	return verifiedOutcome(mains(claims), waits, wrong), proof(data, waits, torn)
}

// mains counts the claims of data and WAL, which the profile is held to. Tablespaces may
// be of any StorageClass.
func mains(claims []observed.Claim) int {
	n := 0
	for _, c := range claims {
		if c.Role == "" {
			n++
		}
	}
	return n
}

// roleTablespace of CloudNativePG's claims.
const roleTablespace = "PG_TABLESPACE"

// beside says why what a claim holds beside data and WAL could tear a page: pages of a
// tablespace are written without images, too.
func (s Storage) beside(c observed.Claim) []string {
	if c.Role != roleTablespace {
		return []string{fmt.Sprintf("claim %s has the role %s, which is not known: it may hold data", c.Name, c.Role)}
	}
	if unread(c) != "" {
		return []string{fmt.Sprintf("claim %s of a tablespace is on no volume that an agent has read back", c.Name)}
	}
	var out []string
	if text := tears(c); text != "" {
		out = append(out, text)
	}
	if c.Detached != "" {
		out = append(out, fmt.Sprintf("the devices below %s are not all attached: %s", c.Observed.Name, c.Detached))
	}
	return out
}

// reorders says why a volume of WAL may lose what data pages already rest on. Its records
// need no size: WAL has checksums of its own, and no page in it is written in place.
func reorders(c observed.Claim) []string {
	var out []string
	if c.Observed.Type != "Filesystem" {
		out = append(out, c.Observed.Name+" is a zvol, and not a dataset")
	}
	if text := unprotected(c.Observed); text != "" {
		out = append(out, text)
	}
	if c.Detached != "" {
		out = append(out, fmt.Sprintf("the devices below %s are not all attached: %s", c.Observed.Name, c.Detached))
	}
	return out
}

func unprotected(o *v1alpha1.ObservedVolume) string {
	for _, d := range o.Differs {
		if d.Name == "checksum" && d.Value == "off" || d.Name == "sync" && d.Value == "disabled" {
			return fmt.Sprintf("%s has %s=%s", o.Name, d.Name, d.Value)
		}
	}
	return ""
}

func verifiedOutcome(claims int, waits, wrong []string) *outcome.Outcome {
	const c = v1alpha1.ConditionVolumesVerified
	// What ZFS reports of a dataset says nothing about the files that are there.
	o := outcome.DoneWith(c, v1alpha1.ReasonVerified, fmt.Sprintf("%d volumes were read back from their nodes as the profile declares. recordsize is for new files only, and those that are there keep theirs until they are rewritten", claims))
	switch {
	case len(wrong) > 0:
		o = outcome.InvalidBecause(c, v1alpha1.ReasonVolumeDiffers, strings.Join(wrong, "; ")+". Properties in a volume's own name win over its parent's: take them back with zfs inherit, or declare them in the profile")
	case len(waits) > 0:
		o = outcome.WaitFor(c, v1alpha1.ReasonNotReadBack, strings.Join(waits, "; "))
	}
	return &o
}

func proof(data int, waits, torn []string) postgres.Proof {
	out := postgres.Proof{Possible: true, Because: fmt.Sprintf("%d of %d data volumes are ZFS datasets whose records hold whole pages", data, data)}
	switch {
	case len(torn) > 0:
		out.Missing = strings.Join(torn, "; ")
	case len(waits) > 0:
		out.Missing = strings.Join(waits, "; ")
	}
	return out
}

func unread(c observed.Claim) string {
	switch {
	case c.Volume == "":
		return fmt.Sprintf("claim %s is not bound yet", c.Name)
	case c.Observed == nil && c.Unproved != "":
		return fmt.Sprintf("claim %s: %s", c.Name, c.Unproved)
	case c.Observed == nil:
		return fmt.Sprintf("no agent has read back volume %s of claim %s yet", c.Volume, c.Name)
	}
	return ""
}

// differs says what of a volume is not as declared.
func (s Storage) differs(c observed.Claim) string {
	parent := naming.DataDataset(s.Pool)
	if c.WAL {
		parent = naming.WALDataset(s.Pool)
	}
	where := fmt.Sprintf("%s of claim %s on node %s", c.Observed.Name, c.Name, c.Node)
	switch {
	case c.Observed.Type != "Filesystem":
		return where + " is a zvol, and not a dataset"
	case !strings.HasPrefix(c.Observed.Name, parent+"/"):
		return fmt.Sprintf("%s is not below %s", where, parent)
	}
	var values []string
	for _, d := range c.Observed.Differs {
		values = append(values, fmt.Sprintf("%s=%s (%s)", d.Name, d.Value, d.Source))
	}
	if len(values) > 0 {
		return where + " has " + strings.Join(values, ", ")
	}
	return ""
}

// tears says why a volume could tear a page.
func tears(c observed.Claim) string {
	o := c.Observed
	if text := unprotected(o); text != "" {
		return text
	}
	switch {
	case o.Type != "Filesystem":
		return o.Name + " is a zvol: the filesystem on it writes in place"
	case o.Recordsize < nodes.PageSize || o.Recordsize%nodes.PageSize != 0:
		return fmt.Sprintf("%s has recordsize %d, which is not a multiple of the page size %d", o.Name, o.Recordsize, nodes.PageSize)
	}
	return ""
}
