package encryption

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"errors"

	"golang.org/x/crypto/nacl/secretbox"
)

var (
	errShort   = errors.New("it is too short")
	errSealed  = errors.New("it is encrypted")
	errPadding = errors.New("it was changed, or encrypted with another secret")
)

// identity leaves values as they are.
type identity struct{}

func (identity) overhead() (nonce, more int) { return 0, 0 }

func (identity) seal(dst, _ []byte, _ string, plain []byte) []byte { return append(dst, plain...) }

func (identity) open(_ string, _, stored []byte) ([]byte, error) {
	if bytes.HasPrefix(stored, []byte(mark)) {
		return nil, errSealed
	}
	return stored, nil
}

// gcm is AES-GCM: a nonce of 12 bytes, then the ciphertext with its tag; the etcd key is the additional data.
type gcm struct{ aead cipher.AEAD }

func newGCM(secret []byte) (provider, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return gcm{aead}, err
}

func (p gcm) overhead() (nonce, more int) { return p.aead.NonceSize(), p.aead.Overhead() }

func (p gcm) seal(dst, nonce []byte, key string, plain []byte) []byte {
	return p.aead.Seal(dst, nonce, plain, []byte(key))
}

func (p gcm) open(key string, nonce, sealed []byte) ([]byte, error) {
	return p.aead.Open(nil, nonce, sealed, []byte(key))
}

// box is NaCl's secretbox: a nonce of 24 bytes, then the box.
type box struct{ secret [32]byte }

const boxNonce = 24

func newBox(secret []byte) (provider, error) { return &box{[32]byte(secret)}, nil }

func (p *box) overhead() (nonce, more int) { return boxNonce, secretbox.Overhead }

func (p *box) seal(dst, nonce []byte, _ string, plain []byte) []byte {
	return secretbox.Seal(dst, plain, (*[boxNonce]byte)(nonce), &p.secret)
}

func (p *box) open(_ string, nonce, sealed []byte) ([]byte, error) {
	if len(sealed) < secretbox.Overhead {
		return nil, errShort
	}
	plain, ok := secretbox.Open(nil, sealed, (*[boxNonce]byte)(nonce), &p.secret)
	if !ok {
		return nil, errPadding
	}
	return plain, nil
}

// cbc is AES-CBC with the padding of PKCS #7: a nonce of one block, then the ciphertext. It authenticates nothing. It
// is here to read values of other servers, and to write values that they read.
type cbc struct{ block cipher.Block }

func newCBC(secret []byte) (provider, error) {
	block, err := aes.NewCipher(secret)
	return cbc{block}, err
}

func (p cbc) overhead() (nonce, more int) { return aes.BlockSize, aes.BlockSize }

func (p cbc) seal(dst, nonce []byte, _ string, plain []byte) []byte {
	at, padding := len(dst), aes.BlockSize-len(plain)%aes.BlockSize
	dst = append(append(dst, plain...), bytes.Repeat([]byte{byte(padding)}, padding)...)
	cipher.NewCBCEncrypter(p.block, nonce).CryptBlocks(dst[at:], dst[at:])
	return dst
}

func (p cbc) open(_ string, nonce, sealed []byte) ([]byte, error) {
	if len(sealed) == 0 || len(sealed)%aes.BlockSize != 0 {
		return nil, errShort
	}
	plain := make([]byte, len(sealed))
	cipher.NewCBCDecrypter(p.block, nonce).CryptBlocks(plain, sealed)
	padding := plain[len(plain)-1]
	size := len(plain) - int(padding)
	if padding == 0 || padding > aes.BlockSize {
		return nil, errPadding
	}
	for _, b := range plain[size:] {
		if b != padding {
			return nil, errPadding
		}
	}
	return plain[:size], nil
}
