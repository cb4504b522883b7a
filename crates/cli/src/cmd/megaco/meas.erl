%% Measures OTP's codecs of megaco on the messages that come in a frame, as terms with their lengths; answers with a line for
%% each configuration: its name, octets a message, and nanoseconds a message to encode and to decode, the best of the rounds.
-module(tercet_meas).
-export([main/2]).

main(Port, Milliseconds) ->
    Terms = receive {Port, {data, Frame}} -> [binary_to_term(T) || T <- parts(Frame)] end,
    Lines = [line(Name, Module, Config, Terms, Milliseconds) || {Name, Module, Config} <- configurations()],
    port_command(Port, Lines),
    receive after 100 -> ok end.

parts(<<L:32, Part:L/binary, Rest/binary>>) -> [Part | parts(Rest)];
parts(<<>>) -> [].

configurations() ->
    Flex = try megaco_flex_scanner:start() of {ok, Ports} -> [{flex, Ports}]; _ -> none catch _:_ -> none end,
    [{"pretty", megaco_pretty_text_encoder, []},
     {"pretty-flex", megaco_pretty_text_encoder, Flex},
     {"compact", megaco_compact_text_encoder, []},
     {"compact-flex", megaco_compact_text_encoder, Flex},
     {"per", megaco_per_encoder, []},
     {"per-native", megaco_per_encoder, [native]},
     {"ber", megaco_ber_encoder, []},
     {"ber-native", megaco_ber_encoder, [native]},
     {"etf", megaco_erl_dist_encoder, []},
     {"etf-mc", megaco_erl_dist_encoder, [megaco_compressed]},
     {"etf-zlib", megaco_erl_dist_encoder, [compressed]},
     {"etf-mc-zlib", megaco_erl_dist_encoder, [megaco_compressed, compressed]}].

line(_, _, none, _, _) -> [];
line(Name, Module, Config, Terms, Milliseconds) ->
    try
        Plain = Config -- [native],
        Encoded = [{V, ok(Module:encode_message(Plain, V, T))}
                   || {_, _, {_, V, _, _}} = T <- Terms],
        %% The native terms are those of the module: what its decoder makes without names.
        Values = case Config of
            [native] -> [{V, ok(Module:decode_message(Config, V, B))} || {V, B} <- Encoded];
            _ -> [{V, T} || {_, _, {_, V, _, _}} = T <- Terms]
        end,
        Count = length(Terms),
        Size = lists:sum([byte_size(B) || {_, B} <- Encoded]) / Count,
        Encode = best(fun() -> [Module:encode_message(Config, V, T) || {V, T} <- Values] end, Milliseconds),
        Decode = best(fun() -> [Module:decode_message(Config, V, B) || {V, B} <- Encoded] end, Milliseconds),
        io_lib:format("~s ~.3f ~.3f ~.3f\n", [Name, Size, Encode / Count, Decode / Count])
    catch _:_ -> []
    end.

ok({ok, Value}) when is_list(Value) -> iolist_to_binary(Value);
ok({ok, Value}) -> Value.

best(Round, Milliseconds) ->
    End = erlang:monotonic_time(nanosecond) + Milliseconds * 1000000,
    best(Round, End, infinity).

best(Round, End, Best) ->
    erlang:garbage_collect(),
    Start = erlang:monotonic_time(nanosecond),
    Round(),
    Now = erlang:monotonic_time(nanosecond),
    Shorter = min(Best, Now - Start),
    if Now < End -> best(Round, End, Shorter); true -> Shorter end.
