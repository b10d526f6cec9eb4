package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// BenchmarkLayers measures each layer of the storage before the benchmark, one at a
// time. The layers are a flushed write on a scratch volume (fio), the flush of the WAL
// (pg_test_fsync), and transactions on unlogged and logged tables. Scratch volumes use
// the StorageClasses of the primary's volumes, on its node, and are deleted with the
// runner's pod. The database's own volumes receive only pgbench's tables.
type BenchmarkLayers struct {
	// volumeSize sets the size of each scratch volume, of which less than 100Mi is
	// written. Valid: 256Mi to 100Gi. Default: 1Gi.
	// +optional
	// +kubebuilder:default="1Gi"
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('256Mi')) >= 0 && quantity(string(self)).compareTo(quantity('100Gi')) <= 0",message="spec.layers.volumeSize must be a quantity from 256Mi to 100Gi, as 1Gi"
	VolumeSize *resource.Quantity `json:"volumeSize,omitempty"`

	// fioImage sets the image that has fio 3.0 or newer on its PATH. It runs as an
	// unprivileged user without a token. Default: none, and the volume alone is not
	// measured; status.run.layers reports that.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^ \\t\\n]+$')",message="spec.layers.fioImage must be the reference of an image without spaces, as registry.example.com/fio:3.39"
	FioImage string `json:"fioImage,omitempty"`

	// duration sets the length of each test. Valid: whole seconds from 1s to 10m.
	// Default: 5s.
	// +optional
	// +kubebuilder:default="5s"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+h)?([0-9]+m)?([0-9]+s)?$') && self != '' && duration(self) >= duration('1s') && duration(self) <= duration('10m')",message="spec.layers.duration must be whole minutes and seconds from 1s to 10m, as 5s"
	Duration string `json:"duration,omitempty"`

	// repeats sets how often each test runs. At least 2 are needed to compare the costs
	// of layers. Valid: 1 to 20. Default: 3.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	Repeats int32 `json:"repeats,omitempty"`
}

// Layers of the storage, as a status orders them.
const (
	// LayerVolume is a write of 8 kB and its flush on a scratch volume of the WAL's
	// StorageClass, by fio.
	LayerVolume = "Volume"
	// LayerDataVolume is the same on a volume of the data's StorageClass, where the WAL
	// has another class.
	LayerDataVolume = "DataVolume"
	// LayerNetworkDevices counts what reaches the network block devices of the
	// primary's node while the transactions of LayerLogged run. This layer and the next
	// three have counts and no durations.
	LayerNetworkDevices = "NetworkDevices"
	// LayerDevice counts what reaches the ZFS dataset, or the block device, that stores
	// the primary's WAL.
	LayerDevice = "Device"
	// LayerDataDevice counts the same for the primary's data, where the WAL has a
	// volume of its own.
	LayerDataDevice = "DataDevice"
	// LayerContainer counts what the server's container writes to the disk of its data.
	// The kubelet reads it from the container's cgroup.
	LayerContainer = "Container"
	// LayerWALFlush is a write of 8 kB and its flush by the server's wal_sync_method,
	// by pg_test_fsync.
	LayerWALFlush = "WALFlush"
	// LayerUnlogged is a transaction of pgbench on unlogged tables.
	LayerUnlogged = "UnloggedTransaction"
	// LayerLogged is the same transaction on logged tables.
	LayerLogged = "Transaction"
)

// BenchmarkLayer is the measurement of one layer of the storage, or the reason why it
// was not measured. Figures are decimal numbers in strings.
type BenchmarkLayer struct {
	// name identifies the layer: Volume, DataVolume, NetworkDevices, Device,
	// DataDevice, Container, WALFlush, UnloggedTransaction or Transaction.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`
	// method is how the layer was measured.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Method string `json:"method,omitempty"`
	// milliseconds is the duration of one operation: the median of the repeats. It is
	// absent when the layer was not measured.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Milliseconds string `json:"milliseconds,omitempty"`
	// millisecondsOfRepeats lists the figures of all repeats, the first one first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=64
	MillisecondsOfRepeats []string `json:"millisecondsOfRepeats,omitempty"`
	// bytesPerTransaction counts the bytes that reached the layer, where they were
	// counted.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	BytesPerTransaction string `json:"bytesPerTransaction,omitempty"`
	// flushesPerTransaction counts the flushes that reached the layer, where they were
	// counted.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	FlushesPerTransaction string `json:"flushesPerTransaction,omitempty"`
	// requestsPerTransaction counts the writes that reached the layer, where they were
	// counted.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	RequestsPerTransaction string `json:"requestsPerTransaction,omitempty"`
	// note explains why the layer was not measured, or limits what its figure means.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Note string `json:"note,omitempty"`
}
