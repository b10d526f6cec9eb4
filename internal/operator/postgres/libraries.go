package postgres

import (
	"regexp"
	"slices"
	"strings"
)

// libraryOfImage is a library by its name. Postgres looks for it in $libdir, the directory
// of its image.
var libraryOfImage = regexp.MustCompile(`^([$]libdir/)?[A-Za-z0-9_-]+$`)

// foreignLibrary refuses a library by its path. The author of a PgStorageCluster is not a
// superuser of the database, and code of a library is above every superuser.
func foreignLibrary(_ Inputs, name, value string) *Refusal {
	if strings.TrimSpace(value) == "" {
		return nil
	}
	for entry := range strings.SplitSeq(value, ",") {
		library := strings.Trim(strings.TrimSpace(entry), `"`)
		if !libraryOfImage.MatchString(library) {
			return refuse(name, RefusedUnsafe, "%q is unsafe: Postgres would run a file from outside of the directories of its image; use names of libraries, as auto_explain or $libdir/auto_explain", library)
		}
	}
	return nil
}

// ownDirectory of Postgres in a list of directories with code.
var ownDirectory = map[string]string{"dynamic_library_path": "$libdir", "extension_control_path": "$system"}

// foreignDirectory refuses directories from which Postgres would load code. CloudNativePG
// appends those of spec.postgresql.extensions itself.
func foreignDirectory(_ Inputs, name, value string) *Refusal {
	for directory := range strings.SplitSeq(value, ":") {
		if value != "" && directory != ownDirectory[name] {
			return refuse(name, RefusedUnsafe, "%q is unsafe: Postgres would run files from outside of the directories of its image; use %s, or remove it", directory, ownDirectory[name])
		}
	}
	return nil
}

// programs are parameters of extensions whose value runs with the rights of the server. It is
// code, options of an interpreter, or the path of a library or script.
var programs = []string{
	"pgsodium.getkey_script", "pljava.classpath", "pljava.libjvm_location", "pljava.module_path", "pljava.vmoptions",
	"plperl.on_init", "plperl.on_plperl_init", "plperl.on_plperlu_init", "vault.getkey_script",
}

func program(name string) *Refusal {
	if slices.Contains(programs, name) {
		return refuse(name, RefusedUnsafe, "it is unsafe: its value runs with the rights of the server; remove it")
	}
	return nil
}
