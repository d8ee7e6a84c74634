package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
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

func (identity) overhead() int { return 0 }

func (identity) seal(dst []byte, _ string, plain []byte) ([]byte, error) {
	return append(dst, plain...), nil
}

func (identity) open(_ string, stored []byte) ([]byte, error) {
	if bytes.HasPrefix(stored, []byte(mark)) {
		return nil, errSealed
	}
	return stored, nil
}

// gcm is AES-GCM: a random nonce of 12 bytes, then the ciphertext with its tag; the etcd key is the additional data.
type gcm struct{ aead cipher.AEAD }

func newGCM(secret []byte) (provider, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return gcm{aead}, err
}

func (p gcm) overhead() int { return p.aead.NonceSize() + p.aead.Overhead() }

func (p gcm) seal(dst []byte, key string, plain []byte) ([]byte, error) {
	at := len(dst)
	dst = append(dst, make([]byte, p.aead.NonceSize())...)
	nonce := dst[at:]
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return p.aead.Seal(dst, nonce, plain, []byte(key)), nil
}

func (p gcm) open(key string, sealed []byte) ([]byte, error) {
	n := p.aead.NonceSize()
	if len(sealed) < n {
		return nil, errShort
	}
	return p.aead.Open(nil, sealed[:n], sealed[n:], []byte(key))
}

// box is NaCl's secretbox: a random nonce of 24 bytes, then the box.
type box struct{ secret [32]byte }

const boxNonce = 24

func newBox(secret []byte) (provider, error) { return &box{[32]byte(secret)}, nil }

func (p *box) overhead() int { return boxNonce + secretbox.Overhead }

func (p *box) seal(dst []byte, _ string, plain []byte) ([]byte, error) {
	var nonce [boxNonce]byte
	if _, err := rand.Read(nonce[:]); err != nil {
		return nil, err
	}
	return secretbox.Seal(append(dst, nonce[:]...), plain, &nonce, &p.secret), nil
}

func (p *box) open(_ string, sealed []byte) ([]byte, error) {
	if len(sealed) < p.overhead() {
		return nil, errShort
	}
	plain, ok := secretbox.Open(nil, sealed[boxNonce:], (*[boxNonce]byte)(sealed), &p.secret)
	if !ok {
		return nil, errPadding
	}
	return plain, nil
}

// cbc is AES-CBC with the padding of PKCS #7: a random block, then the ciphertext. It authenticates nothing. It is here
// to read values of other servers, and to write values that they read.
type cbc struct{ block cipher.Block }

func newCBC(secret []byte) (provider, error) {
	block, err := aes.NewCipher(secret)
	return cbc{block}, err
}

func (p cbc) overhead() int { return 2 * aes.BlockSize }

func (p cbc) seal(dst []byte, _ string, plain []byte) ([]byte, error) {
	at := len(dst)
	padding := aes.BlockSize - len(plain)%aes.BlockSize
	dst = append(dst, make([]byte, aes.BlockSize)...)
	start := dst[at:]
	if _, err := rand.Read(start); err != nil {
		return nil, err
	}
	dst = append(append(dst, plain...), bytes.Repeat([]byte{byte(padding)}, padding)...)
	body := dst[at+aes.BlockSize:]
	cipher.NewCBCEncrypter(p.block, dst[at:at+aes.BlockSize]).CryptBlocks(body, body)
	return dst, nil
}

func (p cbc) open(_ string, sealed []byte) ([]byte, error) {
	if len(sealed) < 2*aes.BlockSize || len(sealed)%aes.BlockSize != 0 {
		return nil, errShort
	}
	plain := make([]byte, len(sealed)-aes.BlockSize)
	cipher.NewCBCDecrypter(p.block, sealed[:aes.BlockSize]).CryptBlocks(plain, sealed[aes.BlockSize:])
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
