package v1alpha1

// InstanceProbes give the Postgres instances on a PgStorageProfile more time to answer
// kubelet than CloudNativePG gives them. Where storage is slow, a restart takes long and
// makes nothing faster. A change restarts the instances one by one.
// +kubebuilder:validation:XValidation:rule="has(self.timeout) || has(self.liveness) || has(self.startup)",message="spec.instanceProbes changes nothing; set timeout, liveness or startup, or remove it"
type InstanceProbes struct {
	// reason says why instances on this storage need more time, for readers of the
	// profile. Valid: 1 to 256 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`

	// timeout is how long kubelet waits for one answer to the startup, readiness and
	// liveness probes (timeoutSeconds). A probe runs every 10 seconds, or once per
	// timeout if that is longer. Valid: 1s to 60s. Default: 5s, by CloudNativePG.
	// +optional
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+[sm]$') && duration(self) >= duration('1s') && duration(self) <= duration('60s')",message="spec.instanceProbes.timeout must be between 1s and 60s, written as 20s"
	Timeout string `json:"timeout,omitempty"`

	// liveness is how long an instance may fail its liveness probe before kubelet
	// restarts it, rounded up to whole attempts. A primary that is isolated from its
	// standbys and the API server ends by this probe. Until then it acknowledges
	// commits, which a failover loses, unless durability is Quorum. Valid: 30s to 30m.
	// Default: 30s, by CloudNativePG (livenessProbeTimeout).
	// +optional
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+[sm]$') && duration(self) >= duration('30s') && duration(self) <= duration('30m')",message="spec.instanceProbes.liveness must be between 30s and 30m, written as 90s or 5m"
	Liveness string `json:"liveness,omitempty"`

	// startup is how long an instance may take to start, crash recovery included, before
	// kubelet restarts it, rounded up to whole attempts. Valid: 1m to 24h. Default: 1h,
	// by CloudNativePG (startDelay).
	// +optional
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+[smh]$') && duration(self) >= duration('1m') && duration(self) <= duration('24h')",message="spec.instanceProbes.startup must be between 1m and 24h, written as 90s, 10m or 2h"
	Startup string `json:"startup,omitempty"`
}
