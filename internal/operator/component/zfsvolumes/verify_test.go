package zfsvolumes_test

import (
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

func volumeOf(name string, recordsize int64, differs ...v1alpha1.ObservedProperty) *v1alpha1.ObservedVolume {
	return &v1alpha1.ObservedVolume{Name: name, Type: "Filesystem", Recordsize: recordsize, Differs: differs}
}

func TestVerify(t *testing.T) {
	good := observed.Claim{Name: "shop-1", Instance: "shop-1", Volume: "pvc-1", Node: "n1", Observed: volumeOf("tank/pgdata/pvc-1", 8192)}
	wal := observed.Claim{Name: "shop-1-wal", Instance: "shop-1", WAL: true, Volume: "pvc-2", Node: "n1", Observed: volumeOf("tank/pgwal/pvc-2", 32768)}
	with := func(c observed.Claim, observed *v1alpha1.ObservedVolume) observed.Claim {
		c.Observed = observed
		return c
	}
	detached := good
	detached.Detached = "tank-0 of store main is Lost"
	const verified = "volumes were read back from their nodes as the profile declares. recordsize is for new files only, and those that are there keep theirs until they are rewritten"
	const remedy = ". Properties in a volume's own name win over its parent's: take them back with zfs inherit, or declare them in the profile"
	for _, tc := range []struct {
		name            string
		instances       int
		claims          []observed.Claim
		reason, message string
		missing         string
	}{
		{"as declared", 1, []observed.Claim{good, wal}, v1alpha1.ReasonVerified, "2 " + verified, ""},
		{"larger records of whole pages", 1, []observed.Claim{with(good, volumeOf("tank/pgdata/pvc-1", 131072))}, v1alpha1.ReasonVerified, "1 " + verified, ""},
		{"no claim yet", 1, nil, v1alpha1.ReasonNotReadBack, "0 of 1 data volumes were read back", "0 of 1 data volumes were read back"},
		{"an instance without its volume", 2, []observed.Claim{good}, v1alpha1.ReasonNotReadBack, "1 of 2 data volumes were read back", "1 of 2 data volumes were read back"},
		{"not bound", 1, []observed.Claim{{Name: "shop-1"}}, v1alpha1.ReasonNotReadBack, "claim shop-1 is not bound yet; 0 of 1 data volumes were read back", "claim shop-1 is not bound yet; 0 of 1 data volumes were read back"},
		{
			"not seen", 1, []observed.Claim{with(good, nil)}, v1alpha1.ReasonNotReadBack,
			"no agent has read back volume pvc-1 of claim shop-1 yet; 0 of 1 data volumes were read back", "no agent has read back volume pvc-1 of claim shop-1 yet; 0 of 1 data volumes were read back",
		},
		{
			"a zvol", 1, []observed.Claim{with(good, &v1alpha1.ObservedVolume{Name: "tank/pgdata/pvc-1", Type: "Volume", Volblocksize: 8192})}, v1alpha1.ReasonVolumeDiffers,
			"tank/pgdata/pvc-1 of claim shop-1 on node n1 is a zvol, and not a dataset" + remedy, "tank/pgdata/pvc-1 is a zvol: the filesystem on it writes in place",
		},
		{
			"of another parent", 1, []observed.Claim{with(good, volumeOf("tank/pgwal/pvc-1", 8192))}, v1alpha1.ReasonVolumeDiffers,
			"tank/pgwal/pvc-1 of claim shop-1 on node n1 is not below tank/pgdata" + remedy, "",
		},
		{
			"records below a page", 1, []observed.Claim{with(good, volumeOf("tank/pgdata/pvc-1", 4096, v1alpha1.ObservedProperty{Name: "recordsize", Value: "4096", Source: "local"}))}, v1alpha1.ReasonVolumeDiffers,
			"tank/pgdata/pvc-1 of claim shop-1 on node n1 has recordsize=4096 (local)" + remedy, "tank/pgdata/pvc-1 has recordsize 4096, which is not a multiple of the page size 8192",
		},
		{
			"without checksums", 1, []observed.Claim{with(good, volumeOf("tank/pgdata/pvc-1", 8192, v1alpha1.ObservedProperty{Name: "checksum", Value: "off", Source: "local"}))}, v1alpha1.ReasonVolumeDiffers,
			"tank/pgdata/pvc-1 of claim shop-1 on node n1 has checksum=off (local)" + remedy, "tank/pgdata/pvc-1 has checksum=off",
		},
		{
			"a WAL volume differs", 1, []observed.Claim{good, with(wal, volumeOf("tank/pgwal/pvc-2", 4096, v1alpha1.ObservedProperty{Name: "recordsize", Value: "4096", Source: "local"}))}, v1alpha1.ReasonVolumeDiffers,
			"tank/pgwal/pvc-2 of claim shop-1-wal on node n1 has recordsize=4096 (local)" + remedy, "",
		},
		{
			"a WAL volume acknowledges what is not flushed", 1, []observed.Claim{good, with(wal, volumeOf("tank/pgwal/pvc-2", 32768, v1alpha1.ObservedProperty{Name: "sync", Value: "disabled", Source: "local"}))}, v1alpha1.ReasonVolumeDiffers,
			"tank/pgwal/pvc-2 of claim shop-1-wal on node n1 has sync=disabled (local)" + remedy, "tank/pgwal/pvc-2 has sync=disabled",
		},
		{
			"devices that are not attached", 1, []observed.Claim{detached}, v1alpha1.ReasonVerified,
			"1 " + verified, "the devices below tank/pgdata/pvc-1 are not all attached: tank-0 of store main is Lost",
		},
		{
			"a tablespace on other storage", 1, []observed.Claim{good, {Name: "shop-1-tbs-x", Instance: "shop-1", Role: "PG_TABLESPACE", Volume: "pvc-3"}}, v1alpha1.ReasonVerified,
			"1 " + verified, "claim shop-1-tbs-x of a tablespace is on no volume that an agent has read back",
		},
		{
			"an unknown role", 1, []observed.Claim{good, {Name: "shop-1-x", Instance: "shop-1", Role: "PG_FUTURE", Volume: "pvc-3"}}, v1alpha1.ReasonVerified,
			"1 " + verified, "claim shop-1-x has the role PG_FUTURE, which is not known: it may hold data",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o, proof := storage().Verify(tc.instances, tc.claims)
			if o.Reason != tc.reason || o.Message != tc.message {
				t.Errorf("%s: %q\nwant %s: %q", o.Reason, o.Message, tc.reason, tc.message)
			}
			if proof.Missing != tc.missing || proof.Holds() != (tc.missing == "") {
				t.Errorf("proof %+v, want missing %q", proof, tc.missing)
			}
		})
	}
}
