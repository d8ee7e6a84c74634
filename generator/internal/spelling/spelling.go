// Package spelling finds the name that a misspelt one was meant to be, and changes the first letters of names.
package spelling

import "strings"

// UpperFirst returns a name with its first letter in upper case.
func UpperFirst(s string) string { return strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):] }

// LowerFirst returns a name with its first letter in lower case.
func LowerFirst(s string) string { return strings.ToLower(s[:min(1, len(s))]) + s[min(1, len(s)):] }

// Nearest returns the candidate that a word is likely to be misspelt from: the one at the smallest distance, at most a
// third of the word's length; empty if there is none.
func Nearest(word string, candidates []string) string { return Within(word, candidates, len(word)/3) }

// Within returns the candidate at the smallest distance without regard to case, at most that given; empty where there
// is none. Of several it prefers the first that begins as the word does.
func Within(word string, candidates []string, most int) string {
	best, least := "", most+1
	for _, c := range candidates {
		d := distance(strings.ToLower(word), strings.ToLower(c), least+1)
		if d < least || d == least && best != "" && beginsAs(c, word) && !beginsAs(best, word) {
			best, least = c, d
		}
	}
	return best
}

// beginsAs reports whether two words have the first letter in common, which typing mistakes rarely change.
func beginsAs(a, b string) bool { return a != "" && b != "" && strings.EqualFold(a[:1], b[:1]) }

// Misspelt reports whether a name is nearly another and not that name: they differ in case, in underscores, or in one
// letter that is wrong, missing, too many, or has changed places with the next.
func Misspelt(name, want string) bool {
	return name != want && distance(folded(name), folded(want), 2) < 2
}

func folded(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// distance is Levenshtein's, where two letters that changed places count as one change, or limit if it would be as
// much or more.
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
