package queue

import (
	"fmt"
	"math"
)

const (
	// maxHand is the size of the largest hand: any larger one needs more bits of a hash than MaxHashBits.
	maxHand = 15
	// maxDeck is the largest number of queues.
	maxDeck = 1 << 26
	// MaxHashBits is how many bits of a hash a hand may use up.
	MaxHashBits = 60
)

// HashBits returns how many bits of a hash the choice of a hand of queues uses up, rounded up.
func HashBits(queues, hand int) int {
	return int(math.Ceil(math.Log2(float64(queues)) * float64(hand)))
}

func checkHand(queues, hand int) error {
	switch {
	case hand < 1 || hand > queues:
		return fmt.Errorf("a hand of %d queues must be between 1 and the number of queues, %d", hand, queues)
	case queues > maxDeck:
		return fmt.Errorf("%d queues are more than %d", queues, maxDeck)
	case HashBits(queues, hand) > MaxHashBits:
		return fmt.Errorf("a hand of %d of %d queues needs more than %d bits of a hash", hand, queues, MaxHashBits)
	}
	return nil
}

// deal appends the hand of a hash to hand: different numbers below queues, as dealt from a shuffled deck. The same hash
// gets the same hand, and hashes of 60 random bits get each hand equally often.
func deal(hand []int, hash uint64, queues, size int) []int {
	var drawn [maxHand]int
	for i := range size {
		left := uint64(queues - i)
		drawn[i] = int(hash % left)
		hash /= left
	}
	// drawn[i] is a position among the cards that the draws before have left. Going back through those draws finds the
	// card itself.
	for i := range size {
		card := drawn[i]
		for j := i - 1; j >= 0; j-- {
			if card >= drawn[j] {
				card++
			}
		}
		hand = append(hand, card)
	}
	return hand
}
