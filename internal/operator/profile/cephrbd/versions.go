package cephrbd

import (
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// The tests compare what the operator writes with the CRDs of the oldest to the newest release.
// driversChart is the first release with the CSI drivers in a chart of their own.
var (
	oldestRook   = version.MajorMinor(1, 18)
	newestRook   = version.MajorMinor(1, 20)
	driversChart = version.MajorMinor(1, 20)
)

const upgradeRook = "upgrade Rook, one minor release after another: https://rook.io/docs/rook/latest/Upgrade/rook-upgrade/"

// judgeRelease a version of Rook. From 1.18 on, Rook has ceph-csi-operator install the CSI drivers.
// From 1.20 on, they are a chart of their own: rook.io/docs/rook/v1.20/Helm-Charts/csi-drivers-chart.
func judgeRelease(v *version.Version) profile.Judgement {
	minor := version.MajorMinor(v.Major(), v.Minor())
	switch {
	case minor.LessThan(oldestRook):
		return profile.Judgement{Differs: "older than " + oldestRook.String() + ", the oldest release that is tested", Remedy: upgradeRook}
	case minor.GreaterThan(newestRook):
		return profile.Judgement{Differs: "newer than " + newestRook.String() + ", the newest release that is tested"}
	case minor.AtLeast(driversChart):
		return profile.Judgement{Tested: true, Differs: "the CSI drivers are a chart of their own, ceph-csi-drivers"}
	}
	return profile.Judgement{Tested: true, Differs: "its chart installs the CSI drivers through ceph-csi-operator"}
}
