package cephrbd

import (
	"fmt"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// thin is what an agent calls a zvol whose size the pool does not hold back for it.
const thin = "Thin"

// zvolsOutcome compares the volumes of the OSDs' claims, as agents read them back, with
// the profile. They must be thick zvols below the right parent, with the declared block
// size and properties. The record of zfs-localpv must agree.
func zvolsOutcome(p *v1alpha1.PgStorageProfile, facts observed.Profile) outcome.Outcome {
	const c = v1alpha1.ConditionBackingVerified
	var waits, wrong []string
	read := 0
	for _, claim := range own(facts).Claims {
		zvol, recorded := own(facts).Zvols[claim.Volume]
		switch text := zvolDiffers(p, claim) + recordDiffers(p, claim, zvol); {
		case claim.Volume == "":
			waits = append(waits, fmt.Sprintf("claim %s is not bound yet", claim.Name))
		case claim.Observed == nil:
			waits = append(waits, unread(claim))
		case text != "":
			wrong = append(wrong, text)
		case claim.Observed.Provisioning == "":
			waits = append(waits, fmt.Sprintf("the agent of node %s does not say yet whether volume %s of claim %s is thick", claim.Node, claim.Volume, claim.Name))
		case !recorded:
			waits = append(waits, fmt.Sprintf("zfs-localpv has no ZFSVolume %s of claim %s", claim.Volume, claim.Name))
		default:
			read++
		}
	}
	want := int(ptr.Deref(clusterOf(p).OSDs.Count, 1))
	switch {
	case len(wrong) > 0:
		return outcome.InvalidBecause(c, v1alpha1.ReasonVolumeDiffers, strings.Join(wrong, "; ")+". An OSD keeps the volume that it was made on: take it out as docs/spec/pgstorageprofile.md says, delete its claim, and Rook makes another")
	case len(waits) > 0 || read < want:
		waits = append(waits, fmt.Sprintf("%d of %d volumes of OSDs were read back", read, want))
		return outcome.WaitFor(c, v1alpha1.ReasonNotReadBack, strings.Join(waits, "; "))
	}
	return outcome.DoneWith(c, v1alpha1.ReasonVerified, fmt.Sprintf("%d volumes of OSDs were read back as thick zvols with volblocksize=%s", read, volblocksize(p)))
}

// unread says why the volume of a claim was not read back.
func unread(c observed.Claim) string {
	if c.Unproved != "" {
		return fmt.Sprintf("claim %s: %s", c.Name, c.Unproved)
	}
	return fmt.Sprintf("no agent has read back volume %s of claim %s yet", c.Volume, c.Name)
}

// zvolDiffers says what of an OSD's volume is not as declared.
func zvolDiffers(p *v1alpha1.PgStorageProfile, c observed.Claim) string {
	o := c.Observed
	if o == nil {
		return ""
	}
	where := fmt.Sprintf("%s of claim %s on node %s", o.Name, c.Name, c.Node)
	parent := naming.BlockDataset(zfsOf(p).Pool.Name)
	switch want := zfsvolumes.Bytes(volblocksize(p)); {
	case o.Type != "Volume":
		return where + " is a dataset, and not a zvol"
	case !strings.HasPrefix(o.Name, parent+"/"):
		return fmt.Sprintf("%s is not below %s", where, parent)
	case o.Volblocksize != want:
		return fmt.Sprintf("%s has volblocksize %d, and not %d", where, o.Volblocksize, want)
	case o.Provisioning == thin:
		return fmt.Sprintf("%s has a refreservation below its size, so it is thin: on a full pool it answers its OSD with errors. zfs set refreservation=auto %s makes it thick where the pool has room", where, o.Name)
	}
	var values []string
	for _, d := range o.Differs {
		values = append(values, fmt.Sprintf("%s=%s (%s)", d.Name, d.Value, d.Source))
	}
	if len(values) == 0 {
		return ""
	}
	return where + " has " + strings.Join(values, ", ")
}

// recordDiffers says how zfs-localpv's record of a volume differs from the spec. It is
// empty without a record, or where the agent already found the difference.
func recordDiffers(p *v1alpha1.PgStorageProfile, c observed.Claim, z Zvol) string {
	if z.Type == "" || zvolDiffers(p, c) != "" {
		return ""
	}
	where := fmt.Sprintf("ZFSVolume %s of claim %s", c.Volume, c.Name)
	switch {
	case z.Type != "ZVOL":
		return fmt.Sprintf("%s has volumeType %s, and not ZVOL", where, z.Type)
	case z.Thin == "yes":
		return where + " has thinProvision yes: on a full pool it answers its OSD with errors"
	case z.Volblocksize != "" && zfsvolumes.Bytes(z.Volblocksize) != zfsvolumes.Bytes(volblocksize(p)):
		return fmt.Sprintf("%s has volblocksize %s, and not %s", where, z.Volblocksize, volblocksize(p))
	}
	return ""
}
