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
		at := len(n) - len(last)
		if len(last) > 4 && strings.HasPrefix(n, family+":") && at > 0 && strings.EqualFold(n[at:], last) && n[at-1] >= 'a' {
			return n
		}
	}
	if s := begun(name, names); s != "" {
		return s
	}
	rest := name[min(len(family)+1, len(name)):]
	var rests []string // what is common to a family is no likeness
	for _, n := range names {
		if r, ok := strings.CutPrefix(n, family+":"); ok {
			rests = append(rests, r)
		}
	}
	if r := nearest(rest, rests); r != "" && rest != "" {
		return family + ":" + r
	}
	return ""
}

// begun is what a name is the beginning of: a marker, or what several have in common and dots.
func begun(name string, names []string) string {
	common, n := "", 0
	if !strings.Contains(name, ":") {
		return "" // a family says nothing yet
	}
	for _, c := range names {
		switch {
		case len(c) <= len(name) || !strings.EqualFold(c[:len(name)], name):
			continue
		case n == 0:
			common = c
		default:
			for !strings.HasPrefix(c, common) {
				common = common[:len(common)-1]
			}
		}
		n++
	}
	if i := strings.LastIndexByte(common, ':'); n > 1 && i >= len(name) {
		return common[:i+1] + "..."
	}
	if n == 1 && len(name)-strings.LastIndexByte(name, ':') > 4 {
		return common
	}
	return ""
}

// retired are names that tools once had, or that the wild believes in, and what says the same today.
var retired = map[string]string{
	"kubebuilder:plural": "kubebuilder:resource:path=", "kubebuilder:singular": "kubebuilder:resource:singular=",
	"kubebuilder:altName": "kubebuilder:resource:shortName=", "kubebuilder:validation:AnyOf": "kubebuilder:validation:AtLeastOneOf",
}

// Nearest returns the candidate that a word is likely to be misspelt from; empty where there is none.
func Nearest(word string, candidates []string) string { return nearest(word, candidates) }

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

// distance is Levenshtein's, where two letters that changed places count as one change, or limit where it would be as much
// or more.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		row, above := rows[i%3], rows[(i-1)%3]
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := above[j-1]
			if a[i-1] != b[j-1] {
				cost++
			}
			row[j] = min(cost, above[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], rows[(i-2)%3][j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit { // a transposition reaches back over one row
			return limit
		}
	}
	return min(rows[len(a)%3][len(b)], limit)
}
