"""What Aether's and Aster's own tests assert, number by number: the test here that holds it, or why none does.

The numbers are those of ``spec/aether.md`` 5 (1 to 102) and ``spec/aster.md`` 7 (1 to 99). An entry
is the place of one test or of several, ``folder/file.py::[Class::]name`` below ``tests``, or a sentence: why the
behaviour is not this product's, or what is done instead. The tests below prove that each place exists and that none is
left out.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Final

import pytest

TESTS: Final = Path(__file__).resolve().parent

_LOG: Final = "persist/test_aether_log.py"
_INDEX: Final = "index/test_aether_behaviours.py"
_SEARCH: Final = "index/search/test_search.py"
_READ: Final = "persist/test_aster_transcript.py::TestWhatAstersTestsAssert"
_WRITE: Final = "persist/test_aster_writer.py"
_BLOCKS: Final = "persist/test_blocks.py"
_MEMORY: Final = "persist/test_memory_store.py::TestWhatAstersTestsAssert"
_LIST: Final = "persist/test_aether_listing.py"
_STORE: Final = "persist/test_aether_store.py"
_CHAT: Final = "persist/test_aether_conversation.py"
_RESUMED: Final = "persist/test_aster_store.py::TestWhatAstersTestsAssert"

_RUNTIME: Final = "not ours: this happens in the running agent, before anything is recorded (DESIGN 15)"
_GRANTS: Final = "not ours: grants are never opened (DESIGN 5), as test_laws.py proves"
_DIGEST: Final = "persist/test_digest.py"
_APPLY: Final = "persist/test_memory_applying.py::TestApply"
_MODEL: Final = "not ours: which session is worth a model's call is the caller's choice; docs/memory.md has a loop"
_PLANS: Final = "not ours: plan files are never opened (DESIGN 5), as test_laws.py proves"

AETHER: Final[dict[int, str | tuple[str, ...]]] = {
    1: f"{_LOG}::test_b01_blank_lines_before_metadata_without_a_mode",
    2: f"{_LOG}::test_b02_an_event_after_blanks_has_its_physical_line_number",
    3: f"{_LOG}::test_b03_an_incomplete_text_is_transient_with_its_line_number",
    4: f"{_LOG}::test_b04_a_line_that_is_not_json_is_malformed_and_then_the_log_ends",
    5: f"{_LOG}::test_b05_only_blank_lines_are_missing_metadata",
    6: f"{_LOG}::test_b06_a_bad_first_line_is_invalid_metadata_at_line_1",
    7: f"{_LOG}::test_b07_to_b10_and_b25_are_persisted",
    8: f"{_LOG}::test_b07_to_b10_and_b25_are_persisted",
    9: f"{_LOG}::test_b07_to_b10_and_b25_are_persisted",
    10: f"{_LOG}::test_b07_to_b10_and_b25_are_persisted",
    11: f"{_LOG}::test_b11_an_incomplete_text_is_not_persisted",
    12: f"{_LOG}::test_b12_sub_agent_progress_is_not_persisted_even_around_a_usage_sample",
    13: f"{_LOG}::test_b13_the_last_usage_sample_is_there_behind_a_failed_turn",
    14: f"{_LOG}::test_b14_a_message_has_its_text_and_a_clear_has_none",
    15: f"{_LOG}::test_b15_b16_b17_b22_b28_every_current_line_stays_as_it_was_written",
    16: f"{_LOG}::test_b15_b16_b17_b22_b28_every_current_line_stays_as_it_was_written",
    17: f"{_LOG}::test_b15_b16_b17_b22_b28_every_current_line_stays_as_it_was_written",
    18: _RUNTIME,
    19: f"{_LOG}::test_b19_the_last_agent_is_that_of_the_last_switch",
    20: f"{_LOG}::test_b20_a_compaction_without_an_id_is_read",
    21: f"{_LOG}::test_b21_the_nested_shape_of_a_text_is_one_event",
    22: (
        f"{_LOG}::test_b15_b16_b17_b22_b28_every_current_line_stays_as_it_was_written",
        f"{_LOG}::test_b22_every_category_is_represented_and_read",
    ),
    23: f"{_LOG}::test_b23_only_the_end_of_a_turn_gives_a_turn_end",
    24: "not ours: builders of Aether's own tests; that a chunk is not persisted and a whole text is, is behaviour 11",
    25: f"{_LOG}::test_b07_to_b10_and_b25_are_persisted",
    26: f"{_LOG}::test_b26_media_and_empty_blocks_do_not_hide_the_text",
    27: (
        "persist/test_aether_records.py::test_unpriced_sample_has_no_cost",
        "index/test_reports.py::test_usage_takes_running_totals_where_they_are_and_sums_elsewhere",
    ),
    28: f"{_LOG}::test_b15_b16_b17_b22_b28_every_current_line_stays_as_it_was_written",
    29: (
        f"{_LOG}::test_b29_old_variants_are_classed_like_new_ones",
        "persist/test_aether_eras.py::test_every_old_variant_has_a_namesake",
    ),
    30: f"{_LOG}::test_b30_what_was_appended_is_loaded_in_order_without_the_transient",
    31: f"{_LOG}::test_b31_a_malformed_last_line_hides_nothing",
    32: f"{_LOG}::test_b32_a_torn_last_line_leaves_the_rest_readable_again_and_again",
    33: f"{_LIST}::test_b33_newest_first_by_time_not_by_its_text",
    34: f"{_LIST}::test_b34_the_title_is_the_first_line_of_the_first_prompt_behind_other_events",
    35: f"{_LIST}::test_b35_other_files_and_bad_metadata_are_left_out_and_named",
    36: (
        f"{_LIST}::test_b36_a_missing_folder_is_an_empty_list",
        f"{_STORE}::test_b36_a_missing_folder_lists_nothing_and_a_missing_session_is_not_found",
    ),
    37: f"{_LIST}::test_b37_a_prompt_without_text_is_a_media_prompt",
    38: f"{_LIST}::test_b38_a_long_title_is_at_most_84_bytes_and_ends_with_an_ellipsis",
    39: f"{_LIST}::test_b39_a_session_without_prompt_has_no_title",
    40: f"{_LIST}::test_b40_blank_and_malformed_lines_do_not_spoil_the_title",
    41: f"{_STORE}::test_b41_metadata_has_its_mode_also_where_there_is_none",
    42: f"{_STORE}::test_b42_control_events_are_kept_and_are_no_prompts",
    43: f"{_STORE}::test_b43_transient_lines_of_others_are_left_out",
    44: (
        f"{_LIST}::test_b44_the_line_limit_itself_is_within",
        f"{_LIST}::test_b44_a_preview_of_the_line_limit_itself_is_whole",
    ),
    45: (
        f"{_LIST}::test_b45_the_byte_limit_itself_is_within",
        f"{_LIST}::test_b45_b46_preview_counts_blank_bytes_and_stops_before_parsing",
    ),
    46: (
        f"{_LIST}::test_b46_blank_runs_beyond_the_bound_truncate",
        f"{_LIST}::test_b45_b46_preview_counts_blank_bytes_and_stops_before_parsing",
    ),
    47: f"{_STORE}::TestRelocate::test_b47_metadata_and_the_historys_folder_change_and_nothing_else",
    48: f"{_STORE}::TestRelocate::test_b48_the_recorded_folder_can_be_read",
    49: f"{_LIST}::test_b49_b50_preview_tells_session_turns_and_calls",
    50: f"{_LIST}::test_b49_b50_preview_tells_session_turns_and_calls",
    51: f"{_LIST}::test_b51_an_unknown_session_is_not_found",
    52: f"{_LIST}::test_b52_of_205_prompts_eight_are_shown",
    53: (
        f"{_STORE}::TestPrompts::test_b53_the_display_form_is_what_is_searched_and_listed",
        f"{_CHAT}::test_b53_the_whole_content_is_rebuilt_where_a_display_form_is_shown",
    ),
    54: f"{_STORE}::TestPrompts::test_b54_an_event_stays_where_the_history_cannot_be_written_and_a_rebuild_repairs_it",
    55: (
        f"{_STORE}::TestHome::test_b55_a_blank_override_is_none_and_another_wins",
        "not ours: USERPROFILE is Windows'; without HOME the system's list of users tells the home folder",
    ),
    56: (
        f"{_SEARCH}::test_only_the_newest_hundred_prompts_are_searched",
        f"{_STORE}::TestPrompts::test_b56_to_b61_the_newest_hundred_smart_case_bytes_and_limits",
    ),
    64: f"{_CHAT}::test_b64_message_ids_survive_again_and_again",
    65: f"{_CHAT}::test_b65_two_texts_in_one_turn_are_two_messages",
    66: f"{_CHAT}::test_b66_control_events_are_no_messages_and_the_last_switch_tells_the_agent",
    67: f"{_CHAT}::test_b67_a_note_of_a_background_tool_stands_behind_answers_that_wait",
    68: f"{_CHAT}::test_b68_a_call_its_result_and_a_text_are_one_message_and_its_answer",
    69: f"{_CHAT}::test_b69_a_tool_error_is_a_failed_answer_and_a_clear_removes_what_was_before",
    70: f"{_CHAT}::test_b70_nothing_and_an_end_without_content_add_no_message",
    71: f"{_CHAT}::test_b71_a_turns_end_resets_what_was_collected",
    72: f"{_CHAT}::test_b72_compaction_leaves_one_summary",
    73: f"{_CHAT}::test_b73_chunks_are_neither_written_nor_rebuilt",
    74: f"{_CHAT}::test_b74_boundaries_are_the_live_runs_also_with_a_repeated_provider_id",
    75: f"{_CHAT}::test_b75_the_agents_going_on_by_itself_is_a_message_with_its_id",
    76: (
        f"{_CHAT}::test_b76_system_messages_stay_and_nothing_gives_no_summary",
        "not ours: how many messages a live compaction removed is counted by the running agent; what it wrote is kept",
    ),
    57: f"{_SEARCH}::test_case_literals_offsets_and_parts_of_the_newest_prompts",
    58: f"{_SEARCH}::test_case_literals_offsets_and_parts_of_the_newest_prompts",
    59: f"{_SEARCH}::test_a_limit_is_between_one_and_fifty_and_more_is_told",
    60: "index/search/test_search_bank.py::test_behaviour_60_twenty_hits_unless_a_limit_is_given_newest_first",
    61: f"{_SEARCH}::test_a_blank_query_gives_nothing",
    62: f"{_SEARCH}::test_case_literals_offsets_and_parts_of_the_newest_prompts",
    63: f"{_SEARCH}::test_case_literals_offsets_and_parts_of_the_newest_prompts",
    77: "persist/test_aether_discover.py::test_b77_logs_are_found_with_their_sizes_and_the_history_apart",
    78: (
        f"{_INDEX}::test_b78_each_view_is_filled_by_its_event_types_alone",
        f"{_INDEX}::test_b78_cancellations_are_whatever_was_cancelled_and_sessions_are_those_indexed",
        f"{_INDEX}::test_b78_a_model_switch_tells_the_new_model",
    ),
    79: f"{_INDEX}::test_b79_two_logs_of_one_session_are_both_indexed",
    80: f"{_INDEX}::test_b80_counts_from_one_end_to_the_other",
    81: f"{_INDEX}::test_b81_how_full_the_context_was_and_calls_name_no_model",
    82: f"{_INDEX}::test_b82_usage_of_a_root_and_of_a_sub_agent",
    83: f"{_INDEX}::test_b83_tool_columns_are_text",
    84: (
        f"{_INDEX}::test_b84_several_changed_logs_are_all_read_again",
        "index/test_history_equals_rebuild.py::test_files_may_come_in_any_order",
    ),
    85: "index/test_runs.py::test_nothing_new_writes_nothing",
    86: (
        "index/test_bad_input.py::test_a_rewrite_with_the_same_size_and_time_is_seen",
        "index/test_bad_input.py::test_fifty_changes_leave_no_rubbish",
    ),
    87: f"{_INDEX}::test_b87_a_deleted_log_leaves_with_its_events",
    88: f"{_INDEX}::test_b88_a_malformed_line_is_one_error_and_hides_nothing",
    89: f"{_INDEX}::test_b89_bad_metadata_is_one_damaged_line_and_the_events_are_kept",
    90: f"{_INDEX}::test_b90_and_b91_a_log_that_fails_again_has_one_row_until_it_is_repaired",
    91: f"{_INDEX}::test_b90_and_b91_a_log_that_fails_again_has_one_row_until_it_is_repaired",
    92: "index/test_samples.py::test_the_current_aether_log_has_the_rows_of_aethers_own_index",
    93: "index/test_samples.py::test_the_current_aether_log_has_the_rows_of_aethers_own_index",
    94: (f"{_INDEX}::test_b94_types_and_their_columns", f"{_INDEX}::test_b94_ends_have_their_outcomes"),
    95: "index/test_opening.py::test_an_ingest_makes_an_outdated_index_anew_after_one_sentence",
    96: "index/test_query.py::test_a_blank_statement_is_refused_before_the_index_is_opened",
    97: (
        "index/test_query.py::test_the_row_limit_says_whether_there_are_more",
        "index/test_query.py::test_cells_are_cut_by_characters_and_say_so",
        "index/test_query.py::test_odd_values_come_back_plain",
    ),
    98: "index/test_guard.py::test_a_forbidden_statement_is_refused_without_a_trace",
    99: "index/test_query.py::test_comments_may_come_first",
    100: "index/test_query.py::test_several_statements_are_refused_whole",
    101: "cli/test_formats.py::test_tsv_escapes_what_would_break_a_line",
    102: "index/test_describe.py::test_an_example_runs_without_rows_and_with",
}

ASTER: Final[dict[int, str | tuple[str, ...]]] = {
    1: f"{_WRITE}::TestRoundTrip::test_1_a_session_resumes_under_the_id_it_reports",
    2: f"{_WRITE}::TestRoundTrip::test_2_and_3_an_upper_case_file_is_reopened_not_hidden",
    3: (
        f"{_WRITE}::TestRoundTrip::test_2_and_3_an_upper_case_file_is_reopened_not_hidden",
        "cli/test_sessions_changing.py::TestDelete::test_legacy_headerless_and_empty_files_are_listed_shown_and_deleted",
    ),
    4: f"{_READ}::test_4_and_5_a_title_survives_and_the_newest_wins",
    5: (
        f"{_READ}::test_4_and_5_a_title_survives_and_the_newest_wins",
        "cli/test_sessions_changing.py::TestRename::test_a_persons_title_stays_over_later_ones_of_the_agent",
    ),
    6: f"{_READ}::test_6_an_untitled_session_shows_its_first_prompt",
    7: f"{_READ}::test_7_steering_is_stored_and_no_turn",
    8: f"{_READ}::test_8_a_file_from_before_reasoning_loads",
    9: f"{_READ}::test_9_reasoning_survives_with_its_numbers",
    10: f"{_WRITE}::TestRoundTrip::test_10_header_calls_and_results_survive",
    11: f"{_READ}::test_11_both_sessions_are_listed_and_the_last_used_is_latest",
    12: f"{_WRITE}::TestRoundTrip::test_12_opened_again_there_is_one_header_and_one_session",
    13: f"{_READ}::test_13_no_session_no_latest",
    14: (
        f"{_MEMORY}::test_14_context_recall_and_an_unknown_name",
        "persist/test_context.py::test_nothing_at_all_is_empty",
        "persist/test_context.py::test_the_sample",
        f"{_BLOCKS}::test_find",
        "cli/test_store_commands.py::test_an_unknown_block_names_near_ones",
    ),
    **dict.fromkeys(range(15, 19), _GRANTS),
    19: f"{_MEMORY}::test_19_a_sourced_block_keeps_its_source_and_birth",
    20: (
        f"{_MEMORY}::test_20_the_journal_in_order_and_a_failed_recall_adds_nothing",
        "persist/test_journal.py::test_the_sample_newest_first",
        "cli/test_store_commands.py::test_a_block_is_printed_and_the_recall_noted",
        "cli/test_store_commands.py::test_an_unknown_block_names_near_ones",
    ),
    21: (
        f"{_MEMORY}::test_21_archive_takes_it_out_of_list_and_context",
        f"{_BLOCKS}::test_archived_blocks_are_listed_apart",
    ),
    22: (
        f"{_MEMORY}::test_22_of_seventy_blocks_the_newest_sixty",
        "persist/test_context.py::test_seventy_blocks_list_the_newest_sixty_and_say_so",
    ),
    23: f"{_MEMORY}::test_23_a_sourced_fact_names_its_session",
    24: (
        f"{_BLOCKS}::test_24_a_file_without_a_header_is_listed_by_its_stem_without_source_or_dates",
        f"{_BLOCKS}::test_b87_without_a_name_the_file_gives_it",
        "persist/test_frontmatter.py::test_without_a_header_the_whole_text_is_the_body",
    ),
    25: (
        f"{_MEMORY}::test_25_a_peek_is_no_recall",
        "cli/test_store_commands.py::test_a_recall_without_journal_writes_nothing",
    ),
    26: (
        f"{_MEMORY}::test_26_and_27_recent_first_and_no_project_text_until_there_is_a_fact",
        f"{_BLOCKS}::test_newest_first_counts_nanoseconds_then_names",
    ),
    27: (
        f"{_MEMORY}::test_26_and_27_recent_first_and_no_project_text_until_there_is_a_fact",
        "persist/test_project_memory.py::test_the_text_is_none_until_there_is_a_file",
    ),
    28: (
        "persist/test_aster_discover.py::test_a_file_in_an_older_home_is_shadowed_file_by_file",
        "cli/test_store_commands.py::test_older_homes_are_read_and_rank_lower",
        "cli/test_sessions_changing.py::test_old_homes_are_changed_in_place_and_nothing_comes_back",
    ),
    29: "not ours: old homes are read and written where they lie; Aster's own start copies them, credentials too",
    30: "not ours: settings of tool servers are the agent's, and are never opened",
    31: "not ours: settings of tool servers are the agent's, and are never opened",
    32: (
        "persist/test_claude_code_prompts.py::test_a_text_is_sorted_by_its_whole_structure",
        "persist/test_claude_code_prompts.py::test_contents_of_every_shape",
        "persist/test_import_rounds.py::TestAstersTextRules::"
        "test_32_injected_parts_and_tool_parts_go_plain_strings_and_input_text_stay",
    ),
    **dict.fromkeys(
        range(33, 38), "not ours: a tool of the agent's own chat; `asx search` and `sessions show` answer it"
    ),
    **dict.fromkeys(range(38, 50), _RUNTIME),
    **dict.fromkeys(range(50, 64), _RUNTIME),
    64: f"{_RESUMED}::test_64_resuming_the_latest_gives_its_two_messages",
    65: f"{_RESUMED}::test_65_looking_for_a_session_to_go_on_with_opens_no_file",
    66: f"{_RESUMED}::test_66_an_id_resumes_though_another_is_newer",
    67: f"{_RESUMED}::test_67_an_unknown_id_is_an_error_and_creates_nothing",
    68: f"{_RESUMED}::test_68_a_session_without_a_prompt_is_none_to_go_on_with",
    69: (
        f"{_RESUMED}::test_69_it_says_when_there_is_none",
        "cli/test_sessions_writing.py::TestLatestAndResume::test_none_is_said_and_code_1",
    ),
    70: f"{_RESUMED}::test_70_what_was_found_is_reopened_and_not_begun_again",
    71: f"{_WRITE}::TestRoundTrip::test_71_a_recorded_prompt_is_in_the_file_at_once",
    72: f"{_READ}::test_8_a_file_from_before_reasoning_loads",
    73: f"{_READ}::test_73_to_77_calls_results_and_messages_without_words",
    74: "persist/test_aster_records.py::TestProjection::test_a_failed_tool_is_an_error_and_a_call_finds_its_name",
    75: f"{_READ}::test_73_to_77_calls_results_and_messages_without_words",
    76: f"{_READ}::test_73_to_77_calls_results_and_messages_without_words",
    77: f"{_READ}::test_73_to_77_calls_results_and_messages_without_words",
    78: "persist/test_memory_plan.py::test_a_plan_says_all_that_it_may",
    79: "persist/test_memory_plan.py::test_json_as_models_write_it_is_read",
    80: "persist/test_memory_plan.py::test_what_is_no_json_says_where",
    81: f"{_APPLY}::test_the_journal_tells_all_of_it_as_one_step",
    82: f"{_APPLY}::test_everything_that_a_plan_says_is_done",
    83: f"{_APPLY}::test_a_session_that_taught_nothing_is_marked_all_the_same",
    84: _MODEL,
    85: f"{_APPLY}::test_the_journal_tells_all_of_it_as_one_step",
    86: _MODEL,
    87: f"{_DIGEST}::test_a_session_in_which_nothing_was_said_has_no_digest",
    88: f"{_DIGEST}::test_a_session_in_which_nothing_was_said_has_no_digest",
    89: f"{_DIGEST}::test_what_was_said_and_done_stands_in_order_below_its_speaker",
    90: f"{_DIGEST}::test_a_result_is_cut_to_600_characters_and_says_so_and_a_prompt_is_whole",
    91: f"{_DIGEST}::test_the_oldest_goes_first_and_the_first_line_says_how_much",
    92: (
        f"{_DIGEST}::test_a_session_in_which_nothing_was_said_has_no_digest",
        f"{_DIGEST}::test_each_kind_of_event_is_told_or_left_out_on_purpose",
    ),
    **dict.fromkeys(range(93, 100), _PLANS),
}

TABLES: Final = {
    "aether": (AETHER, {*range(1, 103)}),
    "aster": (ASTER, {*range(1, 100)}),
}
PLACES: Final = sorted(
    {
        place
        for table, _ in TABLES.values()
        for entry in table.values()
        for place in ((entry,) if isinstance(entry, str) else entry)
        if "::" in place and " " not in place
    }
)


@cache
def names_in(path: Path) -> frozenset[str]:
    """Return the tests of a file as ``name`` or ``Class::name``."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
    return frozenset(found)


@pytest.mark.parametrize("place", PLACES)
def test_the_test_named_for_a_behaviour_exists(place: str) -> None:
    file, _, name = place.partition("::")
    assert name.rpartition("::")[2].startswith("test_")
    assert name in names_in(TESTS / file)


@pytest.mark.parametrize("which", TABLES)
def test_every_behaviour_has_a_test_or_a_reason(which: str) -> None:
    table, numbers = TABLES[which]
    assert table.keys() == numbers
    for number, entry in table.items():
        for place in (entry,) if isinstance(entry, str) else entry:
            assert place in PLACES or place.startswith(("not ours: ", "not yet: ")), number


def test_every_test_written_for_a_behaviour_of_aethers_index_is_in_the_table() -> None:
    written = {f"{_INDEX}::{name}" for name in names_in(TESTS / _INDEX) if name.startswith("test_")}
    assert written <= set(PLACES)
