/*
 * state.c
 *		How a state of a world is kept.
 *
 * Packed: a byte for each field in the list below, instants relative to their
 * clock.  Two states that differ only in when they are, or in how long past
 * their past is, are one; so a world is finite without a limit on its time.
 *
 * A new field of a row goes into ROW_FIELDS, a new thing to remember into one
 * of the other lists; the walk fails where a rule writes a field of a row that
 * has no place here.
 */
#include <string.h>

#include "walk.h"

typedef enum Kind
{
	KIND_PLAIN,
	KIND_FENCE,					/* generation and number */
	KIND_OWNER,
	KIND_INSTANT,				/* of the server's clock; 0: none */
	KIND_DEADLINE				/* of the real one */
} Kind;

typedef struct Field
{
	Kind		kind;
	size_t		offset;
	size_t		size;
} Field;

#define FIELD(kind, path) \
	{KIND_##kind, offsetof(State, path), sizeof(((State *) 0)->path)}

#define ROW_FIELDS(row) \
	FIELD(PLAIN, row.exists), \
	FIELD(PLAIN, row.granted), \
	FIELD(OWNER, row.owner), \
	FIELD(FENCE, row.fence), \
	FIELD(PLAIN, row.version), \
	FIELD(INSTANT, row.granted_at), \
	FIELD(INSTANT, row.renewed_at), \
	FIELD(INSTANT, row.expires_at), \
	FIELD(PLAIN, row.ttl), \
	FIELD(PLAIN, row.hold_at_least), \
	FIELD(PLAIN, row.ended), \
	FIELD(INSTANT, row.ended_at)

#define RECORD_FIELDS(record) \
	FIELD(PLAIN, record.exists), \
	FIELD(PLAIN, record.granted), \
	FIELD(PLAIN, record.owner), \
	FIELD(FENCE, record.fence), \
	FIELD(PLAIN, record.version), \
	FIELD(INSTANT, record.begun), \
	FIELD(INSTANT, record.due), \
	FIELD(PLAIN, record.length), \
	FIELD(PLAIN, record.hold_at_least), \
	FIELD(PLAIN, record.ended)

#define HISTORY_FIELDS(history) \
	ROW_FIELDS(history.row), \
	RECORD_FIELDS(history.record), \
	FIELD(FENCE, history.floor), \
	FIELD(FENCE, history.asked[0][0]), \
	FIELD(FENCE, history.asked[0][1]), \
	FIELD(FENCE, history.asked[0][2]), \
	FIELD(FENCE, history.asked[1][0]), \
	FIELD(FENCE, history.asked[1][1]), \
	FIELD(FENCE, history.asked[1][2])

/* Of worlds with operators or tasks, which have no standby. */
#define CHOICE_FIELDS \
	FIELD(PLAIN, here.row.hold), \
	FIELD(INSTANT, here.row.hold_at), \
	FIELD(PLAIN, here.row.hold_length), \
	FIELD(PLAIN, here.row.cancel), \
	FIELD(INSTANT, here.row.cancel_at), \
	FIELD(PLAIN, here.row.cancel_length), \
	FIELD(PLAIN, here.row.task), \
	FIELD(PLAIN, here.row.attempts), \
	FIELD(PLAIN, here.row.max_attempts), \
	FIELD(PLAIN, here.row.priority), \
	FIELD(INSTANT, here.row.armed_at), \
	FIELD(PLAIN, here.row.delay), \
	FIELD(PLAIN, here.record.hold), \
	FIELD(INSTANT, here.record.hold_begun), \
	FIELD(PLAIN, here.record.hold_length), \
	FIELD(PLAIN, here.record.cancel), \
	FIELD(INSTANT, here.record.cancel_begun), \
	FIELD(PLAIN, here.record.cancel_length), \
	FIELD(PLAIN, here.record.task), \
	FIELD(PLAIN, here.record.attempts), \
	FIELD(PLAIN, here.record.max_attempts), \
	FIELD(INSTANT, here.record.armed), \
	FIELD(PLAIN, here.record.delay)

static const Field fields[] = {
	HISTORY_FIELDS(here),
	CHOICE_FIELDS,
	HISTORY_FIELDS(standby),
	FIELD(PLAIN, generation),
	FIELD(PLAIN, policy),
	FIELD(PLAIN, others),
	FIELD(FENCE, highest),
	FIELD(DEADLINE, promise),
	FIELD(DEADLINE, rest),
	FIELD(PLAIN, waiting),
	FIELD(DEADLINE, patience),
	FIELD(PLAIN, grants),
	FIELD(FENCE, fence[0]),
	FIELD(FENCE, fence[1]),
	FIELD(FENCE, fence[2]),
	FIELD(FENCE, fence[3]),
	FIELD(FENCE, fence[4]),
};

#define FIELD_COUNT ((int) (sizeof(fields) / sizeof(fields[0])))
#define ROW_AT offsetof(State, here.row)
#define NO_INSTANT INT8_MIN
#define FENCES_PER_GENERATION 40

/* The bytes of a row that are in no field, and so have to stay 0. */
static bool unknown_byte[sizeof(LeaseRow)];

static bool
is_of_row(const Field *field)
{
	return field->offset >= ROW_AT && field->offset < ROW_AT + sizeof(LeaseRow);
}

/* Returns the number of bytes that a packed state takes: whole words. */
int
state_init(void)
{
	int			i;

	memset(unknown_byte, true, sizeof(unknown_byte));
	for (i = 0; i < FIELD_COUNT; i++)
	{
		if (is_of_row(&fields[i]))
			memset(&unknown_byte[fields[i].offset - ROW_AT], false, fields[i].size);
	}
	return (FIELD_COUNT + 7) / 8 * 8;
}

bool
state_knows_row(const LeaseRow *row)
{
	const char *byte = (const char *) row;
	size_t		i;

	for (i = 0; i < sizeof(*row); i++)
	{
		if (unknown_byte[i] && byte[i] != 0)
			return false;
	}
	return true;
}

static int64_t
load(const Field *field, const char *base)
{
	const char *at = base + field->offset;
	int64_t		wide;
	int32_t		half;
	RuleText text;

	if (field->kind == KIND_OWNER)
	{
		memcpy(&text, at, sizeof(text));
		return world_owner_of(text) + 1;
	}
	switch (field->size)
	{
		case 1:
			return *at;
		case 4:
			memcpy(&half, at, 4);
			return half;
		default:
			memcpy(&wide, at, 8);
			return wide;
	}
}

static void
store(const Field *field, char *base, int64_t value)
{
	char	   *at = base + field->offset;
	int32_t		half = (int32_t) value;
	RuleText text;

	if (field->kind == KIND_OWNER)
	{
		if (value == 0)
			return;
		text = world_owner((int) value - 1);

		memcpy(at, &text, sizeof(text));
		return;
	}
	switch (field->size)
	{
		case 1:
			*at = (char) value;
			break;
		case 4:
			memcpy(at, &half, 4);
			break;
		default:
			memcpy(at, &value, 8);
	}
}

/* The same in every field; what a text points to counts, not the pointer. */
bool
state_same_row(const LeaseRow *a, const LeaseRow *b)
{
	int			i;

	if (memcmp(a, b, sizeof(*a)) == 0)
		return true;
	for (i = 0; i < FIELD_COUNT; i++)
	{
		Field		field = fields[i];

		if (!is_of_row(&field))
			continue;
		field.offset -= ROW_AT;
		if (load(&field, (const char *) a) != load(&field, (const char *) b))
			return false;
	}
	return true;
}

/* False where the state lies outside the world. */
bool
state_pack(const World *world, const State *state, int8_t * packed)
{
	int			i;

	if (state->grants > world->grants ||
		state->here.record.version > world->versions ||
		state->generation > world->generations)
		return false;

	for (i = 0; i < FIELD_COUNT; i++)
	{
		int64_t		value = load(&fields[i], (const char *) state);

		switch (fields[i].kind)
		{
			case KIND_PLAIN:
			case KIND_OWNER:
				break;
			case KIND_FENCE:
				if (value < 0 || (value & 0xffffffff) >= FENCES_PER_GENERATION)
					return false;
				value = (value >> 16) * FENCES_PER_GENERATION +
					(value & 0xffffffff);
				break;
			case KIND_INSTANT:
				if (value == 0)
				{
					value = NO_INSTANT;
					break;
				}
				value -= state->now;
				if (value > world->ahead)
					return false;
				if (value < -world->past)
					value = -world->past;
				break;
			case KIND_DEADLINE:
				value -= state->real;
				if (value < -world->past)
					value = -world->past;
				break;
		}
		if (value < INT8_MIN || value > INT8_MAX)
			return false;
		packed[i] = (int8_t) value;
	}
	return true;
}

void
state_unpack(const World *world, const int8_t * packed, State *state)
{
	int			i;

	memset(state, 0, sizeof(*state));
	state->now = world->origin;
	state->real = world->origin;
	for (i = 0; i < FIELD_COUNT; i++)
	{
		int64_t		value = packed[i];

		switch (fields[i].kind)
		{
			case KIND_PLAIN:
			case KIND_OWNER:
				break;
			case KIND_FENCE:
				value = value / FENCES_PER_GENERATION * (INT64_C(1) << 16) +
					value % FENCES_PER_GENERATION;
				break;
			case KIND_INSTANT:
				value = value == NO_INSTANT ? 0 : state->now + value;
				break;
			case KIND_DEADLINE:
				value += state->real;
				break;
		}
		store(&fields[i], (char *) state, value);
	}
}
