package v1alpha1

// MaxOverridesBytes bounds the JSON of spec.cnpg.spec, whose fields are not this API's,
// so that no rule of its schema can.
const MaxOverridesBytes = 64 << 10

// OverridesTooLarge stands for a spec.cnpg.spec that exceeds MaxOverridesBytes, which
// the operator does not keep in memory. It is refused like what it stands for.
const OverridesTooLarge = `{"pgstorage.dev/too-large":true}`
