package crd_test

import "strings"

// These are the rows of amounts with few characters that CEL would compare for hours. Without a
// bound in its rules the API server would not answer.

const endless = "1e2000000000"

func quantityRows() []row {
	digits := strings.Repeat("9", 100_000)
	memory := map[string]any{"cpu": "1", "memory": endless}
	return []row{
		cluster("an endless size", set("spec/storage/size", endless), noQuantity("spec.storage.size", endless), "spec.storage.size must be a quantity of at least 1Gi"),
		cluster("a size that becomes endless", set("spec/storage/size", endless), noQuantity("spec.storage.size", endless)).updated(),
		cluster("a size of many digits", set("spec/storage/size", digits), "spec.storage.size in body should match"),
		cluster("an endless walSize", set("spec/storage/walSize", endless), noQuantity("spec.storage.walSize", endless)),
		cluster("an endless request", set("spec/resources/requests/memory", endless), noQuantity("spec.resources.requests.memory", endless)),
		cluster("an endless limit", set("spec/resources/limits/memory", endless), noQuantity("spec.resources.limits.memory", endless)),
		cluster("endless huge pages", set("spec/resources/requests/hugepages-2Mi", endless), noQuantity("spec.resources.requests.hugepages-2Mi", endless)).with(set("spec/resources/limits/hugepages-2Mi", endless)),
		cluster("an endless lag", set("spec/readPools", pools(map[string]any{"name": "far", "maxLag": map[string]any{"bytes": endless}})), "spec.readPools[0].maxLag.bytes in body should match"),
		cluster("endless volumes of a pool", set("spec/readPools", pools(map[string]any{"name": "far", "storage": map[string]any{"size": endless}})), "spec.readPools[0].storage.size in body should match"),
		branch("with an endless request", set("spec/resources", map[string]any{"requests": memory}), noQuantity("spec.resources.requests.memory", endless)),
		zfs("an endless arcMax", set("arcMax", endless), noQuantity("spec.zfsLocalPV.arcMax", endless)),
		zfs("an endless quota", set("data/quota", endless), noQuantity("spec.zfsLocalPV.data.quota", endless)),
		zfs("an endless reservation", set("data/reservation", endless), noQuantity("spec.zfsLocalPV.data.reservation", endless)),
	}
}
