package marker

import "strings"

// Suggest returns the known marker that is nearest to an unknown name, or nothing where none is near.
func Suggest(name string) string {
	names := make([]string, 0, len(table))
	for i := range table {
		names = append(names, table[i].Name)
	}
	if s, ok := retired[name]; ok {
		return s
	}
	if s := within(name, names, 3); s != "" {
		return s
	}
	// A wrong prefix: +kubebuilder:Enum for +kubebuilder:validation:Enum.
	family, last := name[:strings.IndexByte(name+":", ':')], name[strings.LastIndexByte(name, ':')+1:]
	for _, n := range names {
		if last != "" && strings.HasPrefix(n, family+":") && strings.EqualFold(n[strings.LastIndexByte(n, ':')+1:], last) {
			return n
		}
	}
	for _, n := range names { // half of a name: +kubebuilder:validation:OneOf for +kubebuilder:validation:AtMostOneOf
		if len(last) > 4 && strings.HasPrefix(n, family+":") && strings.HasSuffix(n, last) {
			return n
		}
	}
	return nearest(name, names)
}

// retired are names that tools once had, or that the wild believes in, and what says the same today.
var retired = map[string]string{
	"kubebuilder:plural": "kubebuilder:resource:path=", "kubebuilder:singular": "kubebuilder:resource:singular=",
	"kubebuilder:altName": "kubebuilder:resource:shortName=", "kubebuilder:validation:AnyOf": "kubebuilder:validation:AtLeastOneOf",
}

// nearest returns the candidate at the smallest edit distance, at most a third of the word's length; the first in order
// where several are.
func nearest(word string, candidates []string) string { return within(word, candidates, len(word)/3+1) }

// within is nearest for distances below a limit.
func within(word string, candidates []string, limit int) string {
	best, at := "", limit
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(c), at); d < at {
			best, at = c, d
		}
	}
	return best
}

// distance is Levenshtein's, or limit where it would be as much or more.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
			least = min(least, row[j])
		}
		if least >= limit {
			return limit
		}
	}
	return min(row[len(b)], limit)
}
