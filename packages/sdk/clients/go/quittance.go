// Package quittance is a client of the Quittance API and verifies its webhooks. It needs Go 1.19 or newer and nothing else. Copy this file
// into your project.
package quittance

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	mathrand "math/rand"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Creation is the input of a new payment: with a WalletPool, or with a MerchantWallet.
type Creation struct {
	Amount string `json:"amount,omitempty"`
	// Price is in another currency, instead of Amount.
	Price          *Price            `json:"price,omitempty"`
	WalletPool     string            `json:"wallet_pool,omitempty"`
	MerchantWallet string            `json:"merchant_wallet,omitempty"`
	Description    string            `json:"description"`
	Network        string            `json:"network,omitempty"`
	OrderID        string            `json:"order_id,omitempty"`
	Metadata       map[string]string `json:"metadata,omitempty"`
	ReturnURL      string            `json:"return_url,omitempty"`
	ExpiresIn      int               `json:"expires_in,omitempty"`
	UniqueAmount   bool              `json:"unique_amount,omitempty"`
	// DedicatedWallet gives the payment its MerchantWallet for itself.
	DedicatedWallet bool `json:"dedicated_wallet,omitempty"`
	// AcceptFromPercent is the part of the amount that is enough, for a payment with an address of its own. 0 is like 100.
	AcceptFromPercent int `json:"accept_from_percent,omitempty"`
}

// Price is a price in a currency other than USDT.
type Price struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
}

// Rate converted a price: Value is USDT for one unit of its currency.
type Rate struct {
	Value   string       `json:"value"`
	AsOf    time.Time    `json:"as_of"`
	Sources []RateSource `json:"sources"`
}

// RateSource is what one source said, in its own way of quoting.
type RateSource struct {
	Name  string    `json:"name"`
	Value string    `json:"value"`
	AsOf  time.Time `json:"as_of"`
}

// Payment is a payment in its current state. Amounts are decimal text: never calculate with them as floats.
type Payment struct {
	PaymentID       string            `json:"payment_id"`
	PaymentURL      string            `json:"payment_url"`
	Status          string            `json:"status"`
	Amount          string            `json:"amount"`
	RequestedAmount string            `json:"requested_amount"`
	Currency        string            `json:"currency"`
	Network         string            `json:"network"`
	MerchantWallet  string            `json:"merchant_wallet"`
	Description     string            `json:"description"`
	Reference       string            `json:"reference"`
	OrderID         *string           `json:"order_id"`
	Metadata        map[string]string `json:"metadata"`
	ReturnURL       *string           `json:"return_url"`
	CreatedAt       time.Time         `json:"created_at"`
	ExpiresAt       time.Time         `json:"expires_at"`
	PaidAt          *time.Time        `json:"paid_at"`
	CancelledAt     *time.Time        `json:"cancelled_at"`
	Transaction     *Transaction      `json:"transaction"`
	// Dedicated: the payment has its address for itself, and ReceivedAmount is what has arrived there.
	Dedicated         bool    `json:"dedicated"`
	ReceivedAmount    *string `json:"received_amount"`
	AcceptFromPercent *int    `json:"accept_from_percent"`
	// DerivationIndex says which child of the pool's extended key the address is.
	DerivationIndex *int `json:"derivation_index"`
	// Price and Rate are nil for an amount in USDT.
	Price *Price `json:"price"`
	Rate  *Rate  `json:"rate"`
}

// Transaction is the transfer that pays a payment, or is about to.
type Transaction struct {
	TransactionID         string    `json:"transaction_id"`
	TransactionEventIndex int       `json:"transaction_event_index"`
	BlockNumber           int64     `json:"block_number"`
	BlockTimestamp        time.Time `json:"block_timestamp"`
	Amount                string    `json:"amount"`
	Accepted              bool      `json:"accepted"`
	Confirmations         int64     `json:"confirmations"`
	ConfirmationsRequired int64     `json:"confirmations_required"`
	WaitingFor            *string   `json:"waiting_for"`
}

// PaymentDetails is a payment with the transfers that may be for it. A transfer may be another customer's: let a person decide what it
// pays, especially when CandidateCount is more than 1 or Reason is "ambiguous".
type PaymentDetails struct {
	Payment
	UnmatchedTransfers []struct {
		TransactionID         string    `json:"transaction_id"`
		TransactionEventIndex int       `json:"transaction_event_index"`
		Amount                string    `json:"amount"`
		BlockTimestamp        time.Time `json:"block_timestamp"`
		Reason                string    `json:"reason"`
		CandidateCount        int       `json:"candidate_count"`
	} `json:"unmatched_transfers"`
	// Transfers to the address of a dedicated payment.
	Transfers []ReceivedTransfer `json:"transfers"`
	Warnings  []string           `json:"warnings"`
}

// ReceivedTransfer is a transfer to an address that one payment has for itself.
type ReceivedTransfer struct {
	TransactionID         string    `json:"transaction_id"`
	TransactionEventIndex int       `json:"transaction_event_index"`
	Amount                string    `json:"amount"`
	BlockTimestamp        time.Time `json:"block_timestamp"`
	Confirmed             bool      `json:"confirmed"`
	// Counts: it is one of those that pay the payment, or will be when they suffice.
	Counts bool `json:"counts"`
}

// WalletPoolChange has either Addresses, or an XPub and its first address. Never send a private key.
type WalletPoolChange struct {
	Network            string   `json:"network"`
	Addresses          []string `json:"addresses,omitempty"`
	Append             bool     `json:"append,omitempty"`
	XPub               string   `json:"xpub,omitempty"`
	ExpectFirstAddress string   `json:"expect_first_address,omitempty"`
	RestSeconds        int      `json:"rest_seconds,omitempty"`
}

// WalletPool is a named set of addresses, each of which is for one payment at a time. Size and Free are nil for a key, NextIndex for a list.
type WalletPool struct {
	Name           string    `json:"name"`
	Network        string    `json:"network"`
	Kind           string    `json:"kind"`
	RestSeconds    int       `json:"rest_seconds"`
	Size           *int      `json:"size"`
	Free           *int      `json:"free"`
	NextIndex      *int      `json:"next_index"`
	FirstAddresses []string  `json:"first_addresses"`
	Refused        []string  `json:"refused"`
	CreatedAt      time.Time `json:"created_at"`
}

// PublicPayment is what anyone with the link can see.
type PublicPayment struct {
	Status         string    `json:"status"`
	Amount         string    `json:"amount"`
	Currency       string    `json:"currency"`
	Network        string    `json:"network"`
	MerchantWallet string    `json:"merchant_wallet"`
	Description    string    `json:"description"`
	ExpiresAt      time.Time `json:"expires_at"`
}

// Error is a failed call. Code decides what to do: one of the API's codes, or no_answer, or unreadable_answer.
type Error struct {
	Code    string
	Message string
	// Status is 0 without an answer.
	Status int
	// RetryAfter is how long the server asks to wait; 0 if it does not say.
	RetryAfter time.Duration
	// IdempotencyKey is set for a creation: repeat it with this key, and no second payment is created.
	IdempotencyKey string
	cause          error
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }
func (e *Error) Unwrap() error { return e.cause }

// Client is for one merchant's account. Each call is repeated, with the same idempotency key, after 429, 503 or no answer.
type Client struct {
	// BaseURL is everything before /api/v1.
	BaseURL string
	APIKey  string
	// HTTP sets how long one attempt may take. It must not follow redirects, because the API never sends any.
	HTTP       *http.Client
	MaxRetries int
	// MaxRetryDelay is the longest pause between two attempts. If the server asks for more, the error is returned.
	MaxRetryDelay time.Duration
}

// New returns a client with ten seconds for each attempt, and four repetitions.
func New(baseURL, apiKey string) *Client {
	withoutRedirects := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{
		BaseURL:       baseURL,
		APIKey:        apiKey,
		HTTP:          &http.Client{Timeout: 10 * time.Second, CheckRedirect: withoutRedirects},
		MaxRetries:    4,
		MaxRetryDelay: 10 * time.Second,
	}
}

// CreatePayment creates a payment; send the customer to its PaymentURL. The idempotency key identifies this creation: use your order's id,
// so that you can repeat it after a crash. If it is empty, a random one is used.
func (c *Client) CreatePayment(ctx context.Context, creation Creation, idempotencyKey string) (*Payment, error) {
	if idempotencyKey == "" {
		random := make([]byte, 16)
		if _, err := rand.Read(random); err != nil {
			return nil, err
		}
		idempotencyKey = hex.EncodeToString(random)
	}
	body, err := json.Marshal(creation)
	if err != nil {
		return nil, err
	}
	header := http.Header{"X-Api-Key": {c.APIKey}, "Content-Type": {"application/json"}, "Idempotency-Key": {idempotencyKey}}
	payment := new(Payment)
	return payment, c.call(ctx, http.MethodPost, "/payments", header, body, payment)
}

// GetPaymentDetails reads the current state of a payment.
func (c *Client) GetPaymentDetails(ctx context.Context, paymentID string) (*PaymentDetails, error) {
	details := new(PaymentDetails)
	path := "/payments/" + url.PathEscape(paymentID) + "/details"
	return details, c.call(ctx, http.MethodGet, path, http.Header{"X-Api-Key": {c.APIKey}}, nil, details)
}

// PutWalletPool makes a pool of addresses, or changes it. Payments that exist keep their addresses.
func (c *Client) PutWalletPool(ctx context.Context, name string, change WalletPoolChange) (*WalletPool, error) {
	body, err := json.Marshal(change)
	if err != nil {
		return nil, err
	}
	header := http.Header{"X-Api-Key": {c.APIKey}, "Content-Type": {"application/json"}}
	pool := new(WalletPool)
	return pool, c.call(ctx, http.MethodPut, poolPath(name), header, body, pool)
}

// GetWalletPool reads a pool: its first addresses, and how many of a list are free.
func (c *Client) GetWalletPool(ctx context.Context, name string) (*WalletPool, error) {
	pool := new(WalletPool)
	return pool, c.call(ctx, http.MethodGet, poolPath(name), http.Header{"X-Api-Key": {c.APIKey}}, nil, pool)
}

func poolPath(name string) string { return "/merchant/wallet-pools/" + url.PathEscape(name) }

// GetPublicStatus takes the payment's link, or the token at its end, and needs no API key.
func (c *Client) GetPublicStatus(ctx context.Context, paymentURL string) (*PublicPayment, error) {
	status := new(PublicPayment)
	token := paymentURL[strings.LastIndexByte(paymentURL, '/')+1:]
	return status, c.call(ctx, http.MethodGet, "/payments/"+url.PathEscape(token), http.Header{}, nil, status)
}

const firstDelay = 250 * time.Millisecond

func (c *Client) call(ctx context.Context, method, path string, header http.Header, body []byte, answer any) error {
	for attempt := 0; ; attempt++ {
		err := c.once(ctx, method, path, header, body, answer)
		failure := new(Error)
		if !errors.As(err, &failure) {
			return err
		}
		failure.IdempotencyKey = header.Get("Idempotency-Key")
		delay := time.Duration(float64(firstDelay) * math.Pow(2, float64(attempt)) * (0.75 + mathrand.Float64()/2))
		if failure.RetryAfter > delay {
			delay = failure.RetryAfter
		}
		mayRepeat := failure.Code == "no_answer" || failure.Status == http.StatusTooManyRequests || failure.Status == http.StatusServiceUnavailable
		if !mayRepeat || attempt >= c.MaxRetries || delay > c.MaxRetryDelay {
			return failure
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return failure
		}
	}
}

// maxAnswer limits how much of an answer is read; a payment has a few thousand bytes.
const maxAnswer = 1 << 20

func (c *Client) once(ctx context.Context, method, path string, header http.Header, body []byte, answer any) error {
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(c.BaseURL, "/")+"/api/v1"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = header.Clone()
	request.Header.Set("Accept", "application/json")
	response, err := c.HTTP.Do(request)
	if err != nil {
		return &Error{Code: "no_answer", Message: err.Error(), cause: err}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return &Error{Code: "no_answer", Message: err.Error(), cause: err}
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return errorOf(response, text)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		message := fmt.Sprintf("%d: the answer is not the API's; is the base URL right?", response.StatusCode)
		return &Error{Code: "unreadable_answer", Message: message, Status: response.StatusCode, cause: err}
	}
	return nil
}

// errorOf reads an answer that is not a success. Its body may be anything: an edge or a proxy may answer with a page.
func errorOf(response *http.Response, text []byte) *Error {
	var body struct {
		Code   string          `json:"code"`
		Detail json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(text, &body) != nil || body.Code == "" {
		body.Code = codeOfStatus(response.StatusCode)
	}
	explanation := string(body.Detail)
	if json.Unmarshal(body.Detail, &explanation) != nil && explanation == "" {
		explanation = http.StatusText(response.StatusCode)
	}
	message := fmt.Sprintf("%d: %s", response.StatusCode, explanation)
	return &Error{Code: body.Code, Message: message, Status: response.StatusCode, RetryAfter: retryAfter(response.Header)}
}

func codeOfStatus(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "unauthorized"
	case status == http.StatusNotFound:
		return "not_found"
	case status == http.StatusTooManyRequests:
		return "rate_limited"
	case status >= 502 && status <= 504:
		return "unavailable"
	case status >= 500:
		return "internal_error"
	}
	return "unreadable_answer"
}

// retryAfter reads seconds or a date.
func retryAfter(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil && time.Until(at) > 0 {
		return time.Until(at)
	}
	return 0
}

// Event is the content of a webhook. Kinds other than PAID have an EventType. Only events of a payment have a PaymentID.
type Event struct {
	EventID               string            `json:"event_id"`
	EventType             string            `json:"event_type"`
	PaymentID             string            `json:"payment_id"`
	Status                string            `json:"status"`
	ExpectedAmount        string            `json:"expected_amount"`
	RequestedAmount       string            `json:"requested_amount"`
	TransactionID         string            `json:"transaction_id"`
	TransactionEventIndex *int              `json:"transaction_event_index"`
	Description           string            `json:"description"`
	OrderID               string            `json:"order_id"`
	Metadata              map[string]string `json:"metadata"`
	// Accepted: the transfer pays because a person accepted it. Transfer then has its amount.
	Accepted bool            `json:"accepted"`
	Transfer *UnmatchedMoney `json:"transfer"`
	// ReceivedAmount of a payment with an address of its own is the sum of the Transfers that pay it. It may differ from ExpectedAmount.
	ReceivedAmount string         `json:"received_amount"`
	Transfers      []PaidTransfer `json:"transfers"`
	// Candidates are your payments that an unmatched transfer may be for.
	Candidates          []string `json:"candidates"`
	CandidatesElsewhere bool     `json:"candidates_elsewhere"`
	// CandidateTransfers of an expired payment: how many transfers may be for it.
	CandidateTransfers int `json:"candidate_transfers"`
}

// PaidTransfer is one of the transfers that pay a payment.
type PaidTransfer struct {
	TransactionID         string `json:"transaction_id"`
	TransactionEventIndex int    `json:"transaction_event_index"`
	Amount                string `json:"amount"`
}

// UnmatchedMoney is a transfer that does not pay by itself. Reason is nil when it cannot be for any payment.
type UnmatchedMoney struct {
	Amount         string    `json:"amount"`
	Reason         *string   `json:"reason"`
	Network        string    `json:"network"`
	MerchantWallet string    `json:"merchant_wallet"`
	BlockTimestamp time.Time `json:"block_timestamp"`
}

// ErrWebhook says why a request must not be trusted. The sender doesn't need to know it.
type ErrWebhook string

func (e ErrWebhook) Error() string { return string(e) }

// ErrConfiguration says that your keys or your clock cannot verify any request. It says nothing about the request, so answer 500: the
// sender repeats the event, and nothing is lost once the configuration is right. It never contains a key.
type ErrConfiguration string

func (e ErrConfiguration) Error() string { return string(e) }

const tolerance = 300

// MaxBody is how much of a request to read; refuse a longer one with 413. The largest event has less than 10 KiB.
const MaxBody = 1 << 16

// signingKeyPattern matches every signing key that was ever issued: 32 random bytes in base64url, or in standard base64 with its padding.
// An HMAC accepts an empty key like any other, and then anyone could sign.
var signingKeyPattern = regexp.MustCompile(`^whsec_[A-Za-z0-9+/_-]{43,}=?$`)
var timestampPattern = regexp.MustCompile(`^[0-9]{1,12}$`)

// VerifyWebhook checks that a request to your endpoint is an event of Quittance: that these bytes were signed with one of your keys,
// recently. You still have to compare its content with the order: that it is one of yours, its amount, and the status PAID. The body is the
// raw body, before any parser. keys are signing keys by id; after a rotation keep the old one for five minutes. The error is an ErrWebhook,
// or an ErrConfiguration for any request.
func VerifyWebhook(rawBody []byte, header http.Header, keys map[string]string, now time.Time) (*Event, error) {
	if err := checkConfiguration(keys, now); err != nil {
		return nil, err
	}
	values, err := signedHeaders(header)
	if err != nil {
		return nil, err
	}
	timestamp, signature, eventID, keyID := values[0], values[1], values[2], values[3]
	if !timestampPattern.MatchString(timestamp) {
		return nil, ErrWebhook("timestamp_malformed")
	}
	seconds, _ := strconv.ParseInt(timestamp, 10, 64)
	if difference := now.Unix() - seconds; difference > tolerance || difference < -tolerance {
		return nil, ErrWebhook("timestamp_out_of_tolerance")
	}
	key, isKnown := keys[keyID]
	if !isKnown {
		return nil, ErrWebhook("key_unknown")
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	if !hmac.Equal([]byte("v1="+hex.EncodeToString(mac.Sum(nil))), []byte(signature)) {
		return nil, ErrWebhook("signature_wrong")
	}
	event := new(Event)
	if !utf8.Valid(rawBody) || json.Unmarshal(rawBody, event) != nil {
		return nil, ErrWebhook("body_unreadable")
	}
	if event.EventID != eventID {
		return nil, ErrWebhook("event_id_differs")
	}
	return event, nil
}

// CheckHeader checks that the headers of a webhook exist. Call it before you read the body, so that the body of an unknown sender is never
// read.
func CheckHeader(header http.Header) error {
	_, err := signedHeaders(header)
	return err
}

func signedHeaders(header http.Header) (values [4]string, err error) {
	for i, name := range [...]string{"X-Service-Timestamp", "X-Service-Signature", "X-Service-Event-Id", "X-Service-Key-Id"} {
		// A header that occurs twice has no value on which both sides agree.
		if len(header[name]) != 1 || header[name][0] == "" {
			return values, ErrWebhook("header_missing")
		}
		values[i] = header[name][0]
	}
	return values, nil
}

// checkConfiguration names no id: if id and key were swapped, it is the key.
func checkConfiguration(keys map[string]string, now time.Time) error {
	if now.IsZero() {
		return ErrConfiguration("the clock must be a time")
	}
	if len(keys) == 0 {
		return ErrConfiguration("there must be signing keys, by their ids")
	}
	for _, key := range keys {
		if !signingKeyPattern.MatchString(key) {
			return ErrConfiguration("every signing key must be whsec_ and at least 43 characters of base64")
		}
	}
	return nil
}
