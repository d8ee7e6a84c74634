package wiring

import (
	"fmt"
	"strings"

	"sigs.k8s.io/randfill"

	"example.com/library/apis/library"
	"example.com/library/apis/library/v1alpha1"
)

// The hand-written conversions of v1alpha1 are right for names of one or two words, and for prices in euros.
func init() {
	roundTripFillers = append(roundTripFillers,
		func(m *library.Money, c randfill.Continue) {
			*m = library.Money{Cents: int64(c.Intn(10000)), Currency: "EUR"}
		},
		func(a *library.Author, c randfill.Continue) {
			*a = library.Author{Given: fmt.Sprintf("Given%d", c.Intn(9)), Family: fmt.Sprintf("Family%d", c.Intn(9))}
		},
		func(s *v1alpha1.BookSpec, c randfill.Continue) {
			c.FillNoCustom(s)
			s.Author = strings.Join([]string{"Ursula Le", "Homer", "Mary Shelley"}[:c.Intn(3)], "; ")
		},
	)
}
