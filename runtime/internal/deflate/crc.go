package deflate

import "hash/crc32"

// A CRC-32 is the remainder of a polynomial over GF(2), modulo the polynomial P of IEEE 802.3. The words here are such
// remainders, with the coefficient of x^0 in the highest bit, as crc32 has them.

// one is the polynomial 1, and x is the polynomial x.
const (
	one uint32 = 1 << 31
	x   uint32 = 1 << 30
)

// times returns the product of two remainders.
func times(a, b uint32) uint32 {
	var product uint32
	for ; a != 0; a <<= 1 {
		product ^= b & -(a >> 31)
		b = b>>1 ^ crc32.IEEE&-(b&1)
	}
	return product
}

// powers are x^(8·2^i), by i.
var powers = func() (powers [32]uint32) {
	p := x
	for range 3 {
		p = times(p, p)
	}
	for i := range powers {
		powers[i] = p
		p = times(p, p)
	}
	return powers
}()

// shiftOf returns x^(8·n): what the checksum of some bytes is multiplied by when n bytes follow.
func shiftOf(n uint32) uint32 {
	shift := one
	for i := 0; n != 0; i, n = i+1, n>>1 {
		if n&1 != 0 {
			shift = times(shift, powers[i])
		}
	}
	return shift
}

// concatenated returns the checksum of bytes whose first part has the checksum a, and whose second part has the
// checksum b and the length of shift.
func concatenated(a, b, shift uint32) uint32 { return times(a, shift) ^ b }
