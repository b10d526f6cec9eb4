package postgres

import (
	"regexp"
	"slices"
	"strings"
)

// texts are the parameters of type string of which Postgres reads the text at its
// start, and refuses to start with some. What they return is what is passed on.
// TestAcceptedStarts holds what it can against a real server.
var texts = map[string]func(string) (string, *invalid){
	"timezone":                         sessionZone,
	"log_timezone":                     timezone,
	"timezone_abbreviations":           oneOf("Default", "Australia", "India"),
	"datestyle":                        dateStyle,
	"client_encoding":                  oneOf(encodings...),
	"lc_messages":                      locale,
	"lc_monetary":                      locale,
	"lc_numeric":                       locale,
	"lc_time":                          locale,
	"backtrace_functions":              matching(`^[A-Za-z0-9_, \t]*$`, "use names of functions, separated by commas"),
	"default_table_access_method":      matching(`^[a-z_][a-z0-9_]{0,62}$`, "use the name of a table access method, as heap"),
	"createrole_self_grant":            listOf("set", "inherit"),
	"debug_io_direct":                  oneOf(""),
	"log_connections":                  logConnections,
	"restrict_nonsystem_relation_kind": listOf("view", "foreign-table"),
	"wal_consistency_checking":         listOf("all", "heap2", "heap", "btree", "hash", "gin", "gist", "sequence", "spgist", "brin", "generic"),
	"search_path":                      identifiers,
	"session_preload_libraries":        identifiers,
	"local_preload_libraries":          identifiers,
	"ssl_ciphers":                      ciphers,
	"ssl_tls13_ciphers":                separated(":", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"),
	"ssl_groups":                       separated(":", "X25519", "X448", "prime256v1", "secp384r1", "secp521r1"),
}

// encodings that a client of a database in UTF8, which is what is made here, can have.
var encodings = []string{
	"UTF8", "SQL_ASCII", "BIG5", "EUC_CN", "EUC_JIS_2004", "EUC_JP", "EUC_KR", "EUC_TW", "GB18030", "GBK", "ISO_8859_5", "ISO_8859_6", "ISO_8859_7", "ISO_8859_8", "JOHAB", "KOI8R", "KOI8U",
	"LATIN1", "LATIN10", "LATIN2", "LATIN3", "LATIN4", "LATIN5", "LATIN6", "LATIN7", "LATIN8", "LATIN9", "SHIFT_JIS_2004", "SJIS", "UHC", "WIN1250", "WIN1251", "WIN1252", "WIN1253", "WIN1254", "WIN1255", "WIN1256", "WIN1257", "WIN1258", "WIN866", "WIN874",
}

// oneOf reads one of some words, in any case.
func oneOf(words ...string) func(string) (string, *invalid) {
	return func(v string) (string, *invalid) {
		if i := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, v) }); i >= 0 {
			return words[i], nil
		}
		if len(words) == 1 && words[0] == "" {
			return "", bad("%q is an option of developers, with which Postgres does not start on every file system; remove it", v)
		}
		if len(words) > 12 {
			return "", bad("%q is not one of those that Postgres converts to UTF8, and no session could start; use UTF8, or let clients set their own", v)
		}
		return "", bad("%q is not one of %s, and Postgres would not start; use one of them", v, strings.Join(words, ", "))
	}
}

// listOf reads any of some words, separated by commas, or none.
func listOf(words ...string) func(string) (string, *invalid) {
	return func(v string) (string, *invalid) {
		if strings.TrimSpace(v) == "" {
			return "", nil
		}
		return separated(",", words...)(v)
	}
}

// separated reads at least one of some words.
func separated(by string, words ...string) func(string) (string, *invalid) {
	return func(v string) (string, *invalid) {
		for word := range strings.SplitSeq(v, by) {
			if !slices.Contains(words, strings.TrimSpace(word)) {
				return "", bad("%q in %q is not one of %s, and Postgres would not start; use these, separated by %q", strings.TrimSpace(word), v, strings.Join(words, ", "), by)
			}
		}
		return v, nil
	}
}

func matching(pattern, hint string) func(string) (string, *invalid) {
	expression := regexp.MustCompile(pattern)
	return func(v string) (string, *invalid) {
		if !expression.MatchString(v) {
			return "", bad("%q is not read by Postgres, which would not start; %s", v, hint)
		}
		return v, nil
	}
}

// identifiers are separated by commas, each plain or in double quotes.
var identifiers = matching(`^\s*(("[^"]{1,200}"|[A-Za-z_$/][A-Za-z0-9_$./-]*)\s*(,\s*("[^"]{1,200}"|[A-Za-z_$/][A-Za-z0-9_$./-]*)\s*)*)?$`, `use names separated by commas, in double quotes where they are not plain`)

// locale is one that every image has: others depend on the image's package locales.
func locale(v string) (string, *invalid) {
	if slices.Contains([]string{"C", "POSIX", "C.UTF-8", "C.utf8"}, v) {
		return v, nil
	}
	return "", bad("%q is not a locale that every image has, and Postgres does not start with one that is missing; use C or C.UTF-8 here, and ALTER DATABASE ... SET for another", v)
}

// dateStyle reads a style and an order of fields, each at most once.
func dateStyle(v string) (string, *invalid) {
	kinds := map[string]string{"iso": "style", "postgres": "style", "sql": "style", "german": "style", "dmy": "order", "mdy": "order", "ymd": "order"}
	seen := map[string]bool{}
	for word := range strings.SplitSeq(v, ",") {
		kind := kinds[strings.ToLower(strings.TrimSpace(word))]
		if kind == "" || seen[kind] {
			return "", bad("%q is not a date style, and Postgres would not start. Use one of ISO, Postgres, SQL, German and one of DMY, MDY, YMD, as \"ISO, DMY\"", v)
		}
		seen[kind] = true
	}
	return v, nil
}

// logConnections is a boolean, as before version 18, or a list of stages.
func logConnections(v string) (string, *invalid) {
	if _, ok := parseBool(v); ok {
		return v, nil
	}
	return listOf("receipt", "authentication", "authorization", "setup_durations", "all")(v)
}

// ciphers of OpenSSL: a list without one that it knows keeps Postgres from starting.
func ciphers(v string) (string, *invalid) {
	taken := []string{
		"HIGH", "MEDIUM", "DEFAULT", "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
		"ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
	}
	without := []string{"+3DES", "!aNULL", "!eNULL", "!NULL", "!EXPORT", "!LOW", "!DES", "!3DES", "!RC4", "!MD5", "!PSK", "!SRP", "!DSS", "!CAMELLIA", "!SHA1", "@STRENGTH"}
	found := false
	for word := range strings.SplitSeq(v, ":") {
		found = found || slices.Contains(taken, word)
		if !slices.Contains(taken, word) && !slices.Contains(without, word) {
			return "", bad("%q in %q is not a cipher or group that is known here, and Postgres does not start with a list that OpenSSL cannot read. Use %s, and %s", word, v, strings.Join(taken, ", "), strings.Join(without, ", "))
		}
	}
	if !found {
		return "", bad("%q names no cipher, and Postgres would not start; add HIGH", v)
	}
	return v, nil
}
