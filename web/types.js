/**
 * The shapes that cross from the engine, as JSDoc types: what `frame()`, `events()` and `verdict()` answer. Types alone:
 * must never hold code. A twin test holds them against the facade.
 */

/**
 * @typedef {object} Frame
 * @property {number} tick
 * @property {number} step
 * @property {string} hash
 * @property {string} schedule_hash
 * @property {number} virtual_micros
 * @property {string} seed
 * @property {number} replica_count
 * @property {number} client_count
 * @property {{ replication: number, view_change: number, nack: number }} quorums
 * @property {Record<string, number>} knobs
 * @property {Faults} faults
 * @property {{ load_per_million: number, retry_ticks: number, running: boolean, plane?: string, ack_quorum_ratio_per_million?: number, shell?: boolean, retention?: number }} workload
 * @property {Replica[]} replicas
 * @property {Client[]} clients
 * @property {Link[]} links
 * @property {{ code: string, text: string, replica: number | null } | null} why
 * @property {Check[]} checks
 * @property {Violation[]} violations
 * @property {{ count: number, channel_frames_max?: number }} [shards] how each replica's groups are shared out; absent from older engines
 * @property {Record<string, number>} totals
 * @property {{ name: string | null, done: number, steps: number }} story
 * @property {GroupSummary[]} [groups] all groups alive; absent from an engine of one group
 * @property {string} [group] the one that is shown: `meta`, `g0`
 * @property {Mutation[]} [mutations] rules that can be taken out; absent from an engine without
 * @property {{ core: number[], deadline: number, over: boolean } | null} settle
 * @property {Verdict} verdict
 * @property {number} next_event the number that the next event will have
 */

/**
 * @typedef {object} GroupSummary
 * @property {string | number} id
 * @property {string} name `meta`, `g0`
 * @property {"metadata" | "partition"} plane
 * @property {number} shard
 * @property {number | null} primary
 * @property {number} view
 * @property {number} commit_max
 * @property {number} head
 */

/**
 * @typedef {object} Mutation
 * @property {string} id `M03`
 * @property {boolean} on
 * @property {number} hits how often its branch was taken
 * @property {string} rule what the protocol does
 * @property {string} instead what is done in its place
 * @property {string[]} oracles the checks that are to notice
 */

/**
 * @typedef {object} Replica
 * @property {number} id
 * @property {boolean} up
 * @property {boolean} paused
 * @property {"normal" | "view-change" | "recovering" | "recovering-head" | "booting" | "crashed"} status
 * @property {boolean} primary leads its view
 * @property {number} view
 * @property {number} log_view
 * @property {number} durable_view
 * @property {number} durable_log_view
 * @property {number} head
 * @property {number} held
 * @property {number} proven_from
 * @property {number} commit_min
 * @property {number} commit_max
 * @property {number} checkpoint
 * @property {number} incarnation
 * @property {number} writes_pending
 * @property {number} inbox
 * @property {boolean} abdicated
 * @property {{ timer: string, left: number, of: number }[]} timers
 * @property {number[]} leave_votes
 * @property {number[]} log_votes
 * @property {{ op: number, from: number[] }[]} acks
 * @property {LogEntry[]} log
 * @property {{ client: number, session: number, request: number }[]} sessions
 * @property {string} digest
 * @property {{ lies: boolean, tears: boolean, slow_factor: number, pending: number, unsynced: number }} [disk]
 * @property {{ offset_micros: number, drift_ppm: number }} [clock]
 */

/** @typedef {{ op: number, view: number | null, checksum: string | null, state: "committed" | "prepared" | "writing" | "header" | "missing" | "unproven", damaged?: boolean }} LogEntry damaged: the disk could not give it back */

/** @typedef {{ state: "empty" | "whole" | "damaged" | "astray", op: number | null, view: number | null }} DiskBlock astray: it belongs elsewhere */
/** @typedef {{ slot: number, prepare: DiskBlock, header: DiskBlock }} DiskSlot */
/** @typedef {{ copy: number, state: DiskBlock["state"], sequence: number | null, view: number | null, log_view: number | null, commit_max: number | null, checkpoint: number | null }} SuperblockCopy */
/** @typedef {{ replica: number, slots: number, rings: DiskSlot[], superblocks: SuperblockCopy[] }} Disk */
/** @typedef {{ title: string | null, source: string | null, steps: string[] }} Story in words */

/**
 * @typedef {object} Client
 * @property {number} id
 * @property {"idle" | "registering" | "waiting" | "registered"} state
 * @property {number} session
 * @property {number} request
 * @property {number} target
 * @property {number | null} since_tick
 * @property {number} attempts
 * @property {number} replies
 * @property {string | null} asks what it waits for, in words
 */

/**
 * @typedef {object} Link one direction
 * @property {string} from
 * @property {string} to
 * @property {boolean} cut
 * @property {boolean} partitioned
 * @property {string[]} filtered
 * @property {string[]} held_kinds
 * @property {boolean} clogged
 * @property {number | null} clogged_until nothing where it is not clogged, or until healed
 * @property {number} extra_delay_ticks
 * @property {number | null} loss_per_million
 * @property {number} in_flight
 * @property {number} waiting
 */

/** @typedef {Record<string, number | string | boolean>} Faults */
/** @typedef {{ id: string, name: string, state: "holds" | "violated", compared: number, text: string }} Check */
/** @typedef {{ property: string, tick: number, group?: number | string, op: number | null, replicas: number[], text: string }} Violation */
/** @typedef {{ kind: string, text: string }} Verdict */

/**
 * @typedef {object} EventRow
 * @property {number} number
 * @property {number} tick
 * @property {number} step
 * @property {string} class
 * @property {boolean} big
 * @property {number | null} replica
 * @property {number | null} client
 * @property {string} text
 * @property {string | null} packet
 * @property {string | null} fate
 * @property {string | null} from
 * @property {string | null} to
 * @property {string | null} kind
 * @property {number | null} cause
 * @property {number | null} view
 * @property {number | null} op
 * @property {string | null} [group] nothing where it is about no group
 */

/**
 * @typedef {object} Packet one packet under way
 * @property {string} key `0to1.57`
 * @property {string} from
 * @property {string} to
 * @property {number} number
 * @property {number} kind
 * @property {number} view
 * @property {number} op -1 for none
 * @property {number} sent
 * @property {number} due
 * @property {boolean} isHeld clogged or held
 * @property {boolean} isWaiting past due
 * @property {string | null} group by name; nothing where there is one alone
 */

/**
 * @typedef {object} Playground the facade, as wasm-bindgen makes it
 * @property {(ticks: number) => void} advance_ticks
 * @property {() => boolean} advance_event
 * @property {(condition: string, max: number) => boolean} advance_until
 * @property {(text: string) => string} act
 * @property {(acts: string) => void} plan
 * @property {() => Frame} frame
 * @property {() => Float64Array} packets
 * @property {(replica: number) => Disk} [disk]
 * @property {() => Story} [story]
 * @property {(name: string) => void} [select_group]
 * @property {(from: number, max: number) => EventRow[]} events
 * @property {(from: number, max: number) => EventRow[]} marks
 * @property {() => string} link
 * @property {() => string} hash
 * @property {() => Verdict} verdict
 * @property {() => number} tick
 * @property {() => number} step
 * @property {(tick: number, step: number) => void} advance_to
 */

export {};
