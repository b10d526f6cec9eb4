package v1alpha1

// TopologySpec makes this database one site of several, each in a Kubernetes cluster or a
// namespace of its own. One site writes, and the others follow it asynchronously and serve
// reads. It is the same in every site but for self and promotionToken. The
// PgStorageProfile has to allow externalClusters in spec.allowedOverrides, because the
// instances connect to hosts that this field names.
// +kubebuilder:validation:XValidation:rule="self.members.exists(m, m.name == self.self)",message="spec.topology.self must name one of spec.topology.members",fieldPath=".self"
// +kubebuilder:validation:XValidation:rule="self.members.exists(m, m.name == self.primary)",message="spec.topology.primary must name one of spec.topology.members",fieldPath=".primary"
type TopologySpec struct {
	// self names the member that this object is. Immutable.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=24
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.topology.self is immutable: a database does not become another site; create a PgStorageCluster for that site"
	Self string `json:"self,omitempty"`

	// primary names the member that writes. To switch sites without loss, set it in the
	// site that writes first. That site stops writing, and its status.topology has a
	// demotionToken. Then set it in the other sites, with that token as promotionToken in
	// the site that is to write. kubectl pgstorage switch does both. A new database is
	// created in the site that writes, and cloned from it in every other.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=24
	Primary string `json:"primary,omitempty"`

	// promotionToken is the demotionToken of the site that wrote before. A site becomes the
	// one that writes only once it has replayed all that the token covers. Without a token
	// it is not promoted, unless the annotation pgstorage.dev/promote-without-token accepts
	// the loss of what it has not received.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	PromotionToken string `json:"promotionToken,omitempty"`

	// members lists all sites, this one included. Valid: 2 to 4.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=4
	Members []SiteMember `json:"members,omitempty"`

	// maxLag limits how far this site may be behind while it follows. Beyond it, the
	// condition FollowersCaughtUp is False. Postgres does not slow the site that writes
	// down. Default: 64Mi of WAL.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.bytes) || isQuantity(string(self.bytes)) && quantity(string(self.bytes)).compareTo(quantity('1Mi')) >= 0",message="maxLag.bytes must be a quantity of at least 1Mi, as 64Mi"
	MaxLag *MaxLag `json:"maxLag,omitempty"`
}

// SiteMember is one site, as the other sites reach it.
type SiteMember struct {
	// name identifies the site.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=24
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="spec.topology.members[].name must be lower-case letters, digits and '-', begin with a letter, and end with a letter or digit"
	Name string `json:"name,omitempty"`

	// host is the DNS name by which the other sites connect to the primary instance of
	// this one, as of a Service of type LoadBalancer. The certificate of the site's server
	// has it as a further name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="spec.topology.members[].host must be a lower-case DNS name, as shop.north.example"
	Host string `json:"host,omitempty"`

	// port to connect to. Valid: 1 to 65535. Default: 5432.
	// +optional
	// +kubebuilder:default=5432
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`

	// tls names the Secrets by which the other sites authenticate at this one. They are
	// copies of those that CloudNativePG made in this site, in the namespace of each other
	// site. The operator never reads them.
	// +required
	TLS SiteTLS `json:"tls,omitzero"`
}

// SiteTLS names Secrets of the namespace.
type SiteTLS struct {
	// clientCertificate names the Secret with tls.crt and tls.key of the user
	// streaming_replica of the site: a copy of its Secret <cluster>-replication.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClientCertificate string `json:"clientCertificate,omitempty"`

	// certificateAuthority names the Secret with ca.crt, which verifies the server of the
	// site: a copy of its Secret <cluster>-ca, of which only ca.crt is needed.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	CertificateAuthority string `json:"certificateAuthority,omitempty"`
}

// SiteRole is what a site does.
type SiteRole string

const (
	// SiteWrites accepts writes.
	SiteWrites SiteRole = "Writes"
	// SiteFollows replicates the site that writes, and serves reads.
	SiteFollows SiteRole = "Follows"
	// SiteDemoting stops writing.
	SiteDemoting SiteRole = "Demoting"
	// SiteDemoted has stopped writing, and does not yet replicate the site that is to write.
	SiteDemoted SiteRole = "Demoted"
	// SitePromoting is becoming the site that writes.
	SitePromoting SiteRole = "Promoting"
)

// TopologyStatus is what this site does, as CloudNativePG reports it.
type TopologyStatus struct {
	// role is Writes, Follows, Demoting, Demoted or Promoting.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Role SiteRole `json:"role,omitempty"`
	// demotionToken says up to where this site wrote. Set it as spec.topology.promotionToken
	// in the site that is to write. Empty unless this site was demoted.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	DemotionToken string `json:"demotionToken,omitempty"`
	// promotedWith is a hash of the token by which this site was promoted last. No token
	// works twice.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	PromotedWith string `json:"promotedWith,omitempty"`
	// followers lists the sites that replicate this one now.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=24
	Followers []string `json:"followers,omitempty"`
	// members lists the other sites, as they answered when they were asked last.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Members []SiteObserved `json:"members,omitempty"`
}

// SiteObserved is what another site answered.
type SiteObserved struct {
	// name of the site.
	// +required
	// +kubebuilder:validation:MaxLength=24
	Name string `json:"name,omitempty"`
	// role is Writes, Follows, or empty while the site does not answer.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Role SiteRole `json:"role,omitempty"`
	// primary is the site that it holds for the one that writes.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	Primary string `json:"primary,omitempty"`
	// timeline of Postgres that it writes or follows. Each promotion begins a new one.
	// +optional
	Timeline int64 `json:"timeline,omitempty"`
	// problem says why it does not answer.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Problem string `json:"problem,omitempty"`
}
