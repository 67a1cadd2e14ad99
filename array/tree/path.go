package tree

import (
	"strings"
	"unicode"
)

// Join is the path of what is called name below path, which is empty at the top.
func Join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// FieldName is what a struct's field is called in paths: QueryProj is query_proj and
// MLP is mlp.
func FieldName(field string) string {
	runes := []rune(field)
	var b strings.Builder
	for i, r := range runes {
		start := i > 0 && unicode.IsUpper(r) &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if start {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
