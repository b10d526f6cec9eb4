package report

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
)

// printable returns the report with the code of every character that cannot be printed. Those
// are escape sequences, line ends and marks that change the direction of text. It goes through
// JSON, so that no text is missed.
func printable(r Report) (Report, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return Report{}, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var plain any
	if err := d.Decode(&plain); err != nil {
		return Report{}, err
	}
	if raw, err = json.Marshal(visible(plain)); err != nil {
		return Report{}, err
	}
	var out Report
	err = json.Unmarshal(raw, &out)
	return out, err
}

func visible(v any) any {
	switch v := v.(type) {
	case string:
		return codes(v)
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			out[codes(key)] = visible(value)
		}
		return out
	case []any:
		for i := range v {
			v[i] = visible(v[i])
		}
	}
	return v
}

// codes replaces characters that cannot be printed, for example by "\x1b".
func codes(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}
