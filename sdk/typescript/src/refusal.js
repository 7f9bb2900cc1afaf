// What a loop is told when nobody could judge.

/** The codes of what goes wrong on this side of the wire: what happened, the class of the
 * failure, and the way out. */
const FAILURES = {
  "client/not-started": ["it could not be started", "load", "`portcullis doctor`"],
  "client/version": ["it speaks another version of the protocol", "load", "`portcullis --version`"],
  "client/lost": ["the connection to it was lost", "internal", "`portcullis doctor`"],
  "client/timeout": ["it did not answer in time", "timeout", "`portcullis doctor`"],
  "client/garbage": ["what it answered is no answer", "bad-verdict", "`portcullis doctor`"],
  "client/cancelled": ["the call was cancelled", "internal", "the call again if it is still wanted"],
  "client/input": ["its arguments are not JSON", "bad-input", "`portcullis doctor`"],
};

/** The refusal for one of `FAILURES`. `detail` is for people, and the model does not see it. */
export function failure(code, detail = "") {
  const [what, fault, wayOut] = FAILURES[code];
  const reason =
    `Blocked, because Portcullis did not judge this call: ${what}. This is a fault and not a decision: the call ` +
    `was not found to be wrong. Ask the user to run ${wayOut}.`;
  return refused({ by: { kind: "client", name: "portcullis" }, code, fault, reason, detail });
}

/** The refusal for the `error` of an answer. */
export function refusedBy(error) {
  const code = text(error?.data?.code) ?? "client/garbage";
  const fault = text(error?.data?.fault) ?? "internal";
  const message = text(error?.message) ?? "it failed";
  const hint = text(error?.data?.hint);
  const reason =
    `Blocked, because Portcullis did not judge this call: ${message}. This is a fault and not a decision: the ` +
    `call was not found to be wrong.`;
  return refused({ by: { kind: "client", name: "portcullis" }, code, fault, reason, detail: hint ?? "" });
}

/** The refusal that a judgement holds. */
export function refused({ by, code, fault, reason, detail = "", wantsConsent = false }) {
  return Object.freeze({ allowed: false, by, code, fault, reason, detail, wantsConsent });
}

export function text(value) {
  return typeof value === "string" && value !== "" ? value : undefined;
}
